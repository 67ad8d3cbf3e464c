#include "tokenizer_input.hpp"

#include "console.hpp"
#include "open_file.hpp"
#include "soffit/gguf.hpp"
#include "text/load_tokenizer.hpp"

namespace soffit::tool {

Result<std::shared_ptr<const text::Tokenizer>> open_tokenizer(const std::string& path) {
  SOFFIT_TRY(const auto file, open_file(path));
  SOFFIT_TRY(auto tokenizer, text::load_tokenizer(*file));
  for (const std::string& warning : tokenizer->vocabulary().warnings) warn(warning);
  return tokenizer;
}

}  // namespace soffit::tool
