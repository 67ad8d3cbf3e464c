// Runs the built program as a user would.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOFFIT_SANITIZER_MAPS_TERABYTES 1
#endif
#endif

namespace soffit::test {

// Whether the program's address space can be limited.
#if defined(SOFFIT_SANITIZER_MAPS_TERABYTES)
inline constexpr bool kCanLimitAddressSpace = false;
#else
inline constexpr bool kCanLimitAddressSpace = true;
#endif

struct Outcome {
  int exit_code = -1;  // of the program; -1 if a signal ended it
  int signal = 0;
  std::string out, err;
};

struct RunOptions {
  std::string input = {};     // of stdin
  std::string out_path = {};  // stdout goes to this file, such as /dev/full, instead of Outcome::out
  bool close_reader = false;  // the reader of stdout goes away before the program writes
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to the test's own
  std::string program = {};                                           // another program than the one built
  int signal = 0;                                                     // sent to the program after this time
  std::chrono::milliseconds signal_after{0};
  uint64_t address_space = 0;  // bytes that it may map; 0: as many as the test
  bool no_huge_pages = false;
};

// Where the built program is.
std::string program_path();

// `arguments` without the program's name. Ends with a failed assertion of gtest if the program cannot be started.
Outcome run_program(const std::vector<std::string>& arguments, const RunOptions& options = {});

}  // namespace soffit::test
