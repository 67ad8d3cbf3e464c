// Texts that commands read, whole: standard input, a file, or something that is read like one, such as a pipe.
#pragma once

#include <string>

#include "soffit/status.hpp"

namespace soffit::tool {

// At most 1 GB each. "-" is standard input nowhere: commands that read it do so when the option is missing.
Result<std::string> read_text_file(const std::string& path);
Result<std::string> read_standard_input();

}  // namespace soffit::tool
