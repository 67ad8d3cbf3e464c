#include "tokenizer_input.hpp"

#include <iostream>
#include <iterator>

#include "console.hpp"
#include "soffit/gguf.hpp"
#include "text/load_tokenizer.hpp"

namespace soffit::tool {

Result<std::shared_ptr<const text::Tokenizer>> open_tokenizer(const std::string& path) {
  SOFFIT_TRY(const auto file, gguf::File::open(path));
  SOFFIT_TRY(auto tokenizer, text::load_tokenizer(*file));
  for (const std::string& warning : tokenizer->vocabulary().warnings) warn(warning);
  return tokenizer;
}

Result<std::string> read_standard_input() {
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (std::cin.bad()) return Error{Code::io, "cannot read standard input"};
  return text;
}

}  // namespace soffit::tool
