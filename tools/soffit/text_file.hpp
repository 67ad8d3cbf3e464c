// A text that an option names, whole: a file, or something that is read like one, such as a pipe.
#pragma once

#include <string>

#include "soffit/status.hpp"

namespace soffit::tool {

// At most 1 GB. "-" is standard input nowhere: commands that read it do so when the option is missing.
Result<std::string> read_text_file(const std::string& path);

}  // namespace soffit::tool
