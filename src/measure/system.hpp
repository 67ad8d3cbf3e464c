// What the operating system says about this machine and this process. Linux; fields are empty elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace soffit::measure {

std::string cpu_name();     // with family, model and stepping where there are such
std::string kernel_name();  // "Linux 6.1.0"
// "0-3,8" of 0, 1, 2, 3, 8.
std::string ranges(std::span<const int> ascending);
std::string page_sizes();
std::optional<std::array<double, 3>> load_averages();
std::string date_utc();

struct MemoryState {
  uint64_t total = 0;
  // What can be allocated without anything being swapped or killed: of the machine, within the cgroup's limit, and
  // within this process's address space.
  uint64_t available = 0;
};
MemoryState memory_state();
// Why memory gets no huge pages, where it surely gets none; else empty.
std::string huge_pages_denied();

struct Cache {
  int level = 0;
  std::string type;         // "data", "instruction", "unified"
  uint64_t size = 0;        // bytes
  int line = 0;             // bytes; 0: not known
  std::string shared_with;  // processors: "0-1"
};

}  // namespace soffit::measure
