// What tokenize and detokenize share: the file's tokenizer.
#pragma once

#include <memory>
#include <string>

#include "soffit/status.hpp"
#include "text/tokenizer.hpp"

namespace soffit::tool {

// Opens the file and reads its tokenizer only. Its warnings go to stderr.
Result<std::shared_ptr<const text::Tokenizer>> open_tokenizer(const std::string& path);

}  // namespace soffit::tool
