#include "lanes/lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit::lanes {
namespace {

bool starts_identifier(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool goes_on_identifier(char c) { return starts_identifier(c) || is_digit(c); }

// Longest first. ">>" stays two tokens: it may close two templates.
constexpr std::array<std::string_view, 22> kPunctuators = {"<<=", ">>=", "...", "->*", "::", "->", "++", "--",
                                                           "<<",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=",
                                                           "-=",  "*=",  "/=",  "%=",  "&=", "|="};

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view name) : source_(source) { file_ = file_index(name); }

  Result<Tokens> run() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (c == '#') {
        directive();
      } else {
        SOFFIT_CHECK(token(c));
      }
    }
    add(TokenKind::end, at_);
    return std::move(result_);
  }

 private:
  uint32_t file_index(std::string_view name) {
    const auto found = std::ranges::find(result_.files, name);
    if (found != result_.files.end()) return uint32_t(found - result_.files.begin());
    result_.files.emplace_back(name);
    return uint32_t(result_.files.size() - 1);
  }

  // Line markers (# 12 "file" …, #line 12 "file") count; pragmas and the rest say nothing to us.
  void directive() {
    const size_t end = std::min(source_.find('\n', at_), source_.size());
    std::string_view rest = source_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    const auto skip_blanks = [&rest] { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); };
    skip_blanks();
    if (rest.starts_with("line")) rest.remove_prefix(4);
    skip_blanks();
    uint32_t line = 0;
    const auto [after, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    if (error != std::errc() || line == 0) return;
    rest.remove_prefix(size_t(after - rest.data()));
    const size_t open = rest.find('"'), close = rest.rfind('"');
    if (open != std::string_view::npos && close > open) file_ = file_index(rest.substr(open + 1, close - open - 1));
    line_ = line - 1;  // the newline that ends this line makes it `line`
  }

  void add(TokenKind kind, size_t begin) {
    result_.list.push_back({kind, source_.substr(begin, at_ - begin), file_, line_, uint32_t(begin - line_start_ + 1)});
  }

  Status token(char c) {
    const size_t begin = at_;
    if (starts_identifier(c)) {
      while (at_ < source_.size() && goes_on_identifier(source_[at_])) ++at_;
      add(TokenKind::identifier, begin);
      return {};
    }
    if (is_digit(c) || (c == '.' && at_ + 1 < source_.size() && is_digit(source_[at_ + 1]))) {
      number();
      add(TokenKind::number, begin);
      return {};
    }
    if (c == '"' || c == '\'') return text(c);
    for (const std::string_view punctuator : kPunctuators) {
      if (!source_.substr(at_).starts_with(punctuator)) continue;
      at_ += punctuator.size();
      add(TokenKind::punctuator, begin);
      return {};
    }
    if (std::string_view("{}[]();:,.?=<>+-*/%&|^!~").find(c) == std::string_view::npos) {
      return invalid_argument(
          concat(escaped(result_.files[file_]), ":", line_, ": a character that is not of the language"));
    }
    ++at_;
    if (c == '^' && at_ < source_.size() && source_[at_] == '=') ++at_;
    add(TokenKind::punctuator, begin);
    return {};
  }

  // Digits, letters, points, and signs behind an exponent.
  void number() {
    const bool hexadecimal = source_.substr(at_).starts_with("0x") || source_.substr(at_).starts_with("0X");
    while (at_ < source_.size()) {
      const char c = source_[at_], before = at_ > 0 ? source_[at_ - 1] : ' ';
      const bool exponent = hexadecimal ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
      if (!goes_on_identifier(c) && c != '.' && !((c == '+' || c == '-') && exponent)) break;
      ++at_;
    }
  }

  Status text(char quote) {
    const size_t begin = at_++;
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') at_ += source_[at_] == '\\' ? 2 : 1;
    if (at_ >= source_.size() || source_[at_] != quote) {
      return invalid_argument(concat(escaped(result_.files[file_]), ":", line_, ": a text without an end"));
    }
    ++at_;
    add(TokenKind::text, begin);
    return {};
  }

  std::string_view source_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1, file_ = 0;
  Tokens result_;
};

}  // namespace

Result<Tokens> tokens_of(std::string_view source, std::string_view name) { return Lexer(source, name).run(); }

}  // namespace soffit::lanes
