// The tokenizer of a model file. Source: the keys tokenizer.ggml.* and tokenizer.chat_template as llama.cpp reads them.
#pragma once

#include <memory>

#include "soffit/gguf.hpp"
#include "soffit/status.hpp"
#include "text/tokenizer.hpp"

namespace soffit::text {

// Missing keys take llama.cpp's defaults. Arrays must agree in length; a tokenizer or pre-tokeniser that is not
// supported is named in the error, with the list of those that are.
Result<Vocabulary> load_vocabulary(const gguf::File& file);
Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const gguf::File& file);

}  // namespace soffit::text
