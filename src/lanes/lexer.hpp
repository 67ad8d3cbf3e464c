// Tokens of Metal source that the C preprocessor has been over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::lanes {

enum class TokenKind : uint8_t { identifier, number, text, punctuator, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  uint32_t file = 0, line = 0, column = 0;

  bool is(std::string_view what) const { return text == what && kind != TokenKind::text; }
  bool identifier() const { return kind == TokenKind::identifier; }
};

struct Tokens {
  std::vector<Token> list;         // ends with one of kind `end`
  std::vector<std::string> files;  // by Token::file
};

// `source` must outlive the tokens. `name` is the file's until a line marker says another.
Result<Tokens> tokens_of(std::string_view source, std::string_view name);

}  // namespace soffit::lanes
