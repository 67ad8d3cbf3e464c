// GGUF files as commands open them. A mapped file that someone cuts short, or whose disk fails, raises SIGBUS at the
// next read of the lost part; the handler says which file it was and ends the program with exit code 1.
#pragma once

#include <memory>
#include <string>

#include "soffit/gguf.hpp"

namespace soffit::tool {

void install_lost_file_handler();

// File::open, and the file's name for the handler.
Result<std::shared_ptr<const gguf::File>> open_file(const std::string& path);

}  // namespace soffit::tool
