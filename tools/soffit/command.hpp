// What a subcommand of the program is. To add one: write NAME.cpp with a `const Command kName`, name it in commands.cpp
// and in CMakeLists.txt.
#pragma once

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace soffit::tool {

// The exit codes that scripts rely on.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,  // the work failed: a fault was found, a file is broken, output could not be written
  kUsage = 2,   // wrong usage, or something asked for by name that is not available here
  kInterrupted = 130
};

struct Command {
  const char* name;
  const char* summary;   // one line
  const char* examples;  // shown at the end of --help, one a line
  // Declares the command's options on `app` and returns what to do, and the exit code it gives, once they are parsed.
  std::function<int()> (*declare)(CLI::App& app);
};

// In the order of --help.
std::span<const Command* const> commands();

}  // namespace soffit::tool
