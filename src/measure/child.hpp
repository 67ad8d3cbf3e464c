// Another program, run to its end: what it wrote, how long it took.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "measure/command_line.hpp"

namespace soffit::measure {

struct ChildOptions {
  std::filesystem::path directory;   // to run in; empty: this program's own
  std::function<bool()> keep_going;  // asked many times a second; false ends the child and all that it started
};

struct ChildResult {
  std::string out;
  std::string err_end;  // the last few kilobytes of its standard error
  double seconds = 0;   // from its start to its end
};

// Its standard input is empty. An error when it cannot be started, fails or is ended by a signal, with the end of its
// standard error in the message; Code::cancelled when keep_going said so.
Result<ChildResult> run_child(const CommandLine& command, const ChildOptions& options = {});

}  // namespace soffit::measure
