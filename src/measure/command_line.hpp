// A command as one text, taken apart without a shell: which program it names must be certain, since that program is
// hashed before every run. Words are separated by blanks; '…' keeps everything, "…" all but \" and \\, \ the next
// character. Words NAME=VALUE at the front are set in the environment. What only a shell could do (|, ;, $, *, …) is an
// error; who wants it names the shell: sh -c '…'.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::measure {

struct CommandLine {
  std::vector<std::pair<std::string, std::string>> environment;  // added to this program's own
  std::vector<std::string> words;                                // the program first
};

Result<CommandLine> split_command(std::string_view text);

// The file that a word names as a program: as it stands when there is a / in it, else the first on the PATH that the
// command sets, or this program's. Empty when there is none that may be executed.
std::filesystem::path find_program(const CommandLine& command, const std::string& word);

}  // namespace soffit::measure
