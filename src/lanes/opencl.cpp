#include "lanes/opencl.hpp"

#include <set>
#include <vector>

#include "core/concat.hpp"
#include "lanes/lexer.hpp"
#include "lanes/names.hpp"

namespace soffit::lanes {
namespace {

class Writer {
 public:
  explicit Writer(const Tokens& tokens) : tokens_(tokens.list), files_(tokens.files) {}

  std::string run() {
    while (tokens_[at_].kind != TokenKind::end) step();
    return std::move(out_);
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& token(size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)]; }
  bool attributes_begin(size_t i) const {
    return token(i).is("[") && token(i + 1).is("[") && token(i + 1).column == token(i).column + 1;
  }
  // Behind the bracket that closes it; the end of the source when none does.
  size_t behind_bracket(size_t open) const {
    size_t depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (t.is("(") || t.is("[") || t.is("{")) ++depth;
      if ((t.is(")") || t.is("]") || t.is("}")) && --depth == 0) return i + 1;
    }
    return tokens_.size() - 1;
  }
  size_t behind_template(size_t open) const {
    size_t depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (tokens_[i].is("<")) ++depth;
      if (tokens_[i].is(">") && --depth == 0) return i + 1;
      if (tokens_[i].is(";") || tokens_[i].is("{")) break;
    }
    return open;
  }

  // To the token's line, and to its column unless that is behind already.
  void line_of(const Token& t) {
    if (t.file != file_ || t.line < line_ || t.line > line_ + 8) {
      out_ += concat("\n# ", t.line, " \"", files_[t.file], "\"\n");
    } else {
      out_.append(t.line - line_, '\n');
    }
    file_ = t.file;
    line_ = t.line;
    const size_t column = out_.size() - (out_.rfind('\n') + 1) + 1;
    if (column != t.column) out_.append(column < t.column ? t.column - column : 1, ' ');
  }
  void put(std::string_view text) {
    if (!out_.ends_with(' ')) out_ += ' ';
    out_ += text;
  }
  void copy() {
    const Token& t = now();
    const Token& before = token(at_ > 0 ? at_ - 1 : 0);
    const bool shift = t.is(">") && before.is(">") && before.line == t.line && before.column + 1 == t.column;
    if (!shift) line_of(t);
    out_ += t.text;
    ++at_;
  }
  std::string text_of(size_t begin, size_t end) const {
    std::string text;
    for (size_t i = begin; i < end; ++i) (text += tokens_[i].text) += ' ';
    return text;
  }

  void step() {
    const Token& t = now();
    if (t.is("struct")) mark_methods();
    if (methods_.contains(at_)) put("__private");
    if (t.is("}") && !braces_.empty() && braces_.back() == at_) {
      braces_.pop_back();
      line_of(t);
      put(")");
      ++at_;
    } else if (attributes_begin(at_)) {
      at_ = behind_bracket(at_);
    } else if (t.is("kernel")) {
      ++at_;
    } else if (t.kind == TokenKind::number) {
      number();
    } else if (t.is("constant") && is_function_constant()) {
      line_of(t);
      put("extern");
      copy();
    } else if (t.is("threadgroup") && begins_statement()) {
      threadgroup_variables();
    } else if (t.identifier() && is_vector(t.text) && (token(at_ + 1).is("(") || token(at_ + 1).is("{"))) {
      line_of(t);
      put(concat("constructed<", t.text, ">"));
      ++at_;
      if (now().is("{")) {
        braces_.push_back(behind_bracket(at_) - 1);
        put("(");
        ++at_;
      }
    } else if (t.identifier() && is_vector(t.text) && is_initialised_variable()) {
      const std::string_view type = t.text;
      copy();
      copy();
      put(concat("= constructed<", type, ">"));
    } else if (t.is("vec") && token(at_ + 1).is("<") && token(behind_template(at_ + 1)).is("(")) {
      const size_t end = behind_template(at_ + 1);
      line_of(t);
      put(concat("constructed<", text_of(at_, end), ">"));
      at_ = end;
    } else {
      copy();
    }
  }

  void number() {
    const std::string_view text = now().text;
    if (!text.ends_with("bf") || text.starts_with("0x")) return copy();
    line_of(now());
    put(concat("bfloat_literal(", text.substr(0, text.size() - 2), "f)"));
    ++at_;
  }

  // float4 name(a, b); and no function of that name
  bool is_initialised_variable() const {
    if (!token(at_ + 1).identifier() || !token(at_ + 2).is("(")) return false;
    const Token& first = token(at_ + 3);
    const bool parameter = first.is(")") ||
                           (first.identifier() && (is_address_space(first.text) || first.is("const"))) ||
                           ((is_type_name(first.text) || is_type_word(first.text)) && !token(at_ + 4).is("("));
    return !parameter && token(behind_bracket(at_ + 2)).is(";");
  }

  // Metal's member functions are for objects in thread memory unless they say otherwise.
  void mark_methods() {
    size_t open = at_ + 1;
    while (token(open).identifier() || token(open).is(":") || token(open).is("::") || token(open).is("<") ||
           token(open).is(">") || token(open).is(",")) {
      ++open;
    }
    if (!token(open).is("{")) return;
    const std::string_view name = token(at_ + 1).text;
    const size_t close = behind_bracket(open) - 1;
    bool method = true;
    for (size_t i = open + 1; i < close;) {
      const Token& t = tokens_[i];
      if (t.is("static") || t.is("=")) method = false;
      if (t.is(";")) method = true;
      if (t.is("(") && method && token(i - 1).text != name) {
        size_t behind = behind_bracket(i);
        while (token(behind).is("const")) ++behind;
        if (token(behind).is("{") || token(behind).is(";")) methods_.insert(behind);
      }
      const bool bracket = t.is("(") || t.is("{") || t.is("[");
      if (t.is("{")) method = true;
      i = bracket ? behind_bracket(i) : i + 1;
    }
  }

  static bool is_vector(std::string_view name) {
    return is_type_name(name) && (name.ends_with("2") || name.ends_with("3") || name.ends_with("4")) &&
           name.find('x') == std::string_view::npos && !name.starts_with("packed_");
  }

  bool is_function_constant() const {
    for (size_t i = at_; i < tokens_.size() && !tokens_[i].is(";") && !tokens_[i].is("{"); ++i) {
      if (tokens_[i].is("function_constant")) return true;
    }
    return false;
  }

  // A declaration of variables in threadgroup memory, not of a pointer to it or a parameter.
  bool begins_statement() const {
    if (at_ > 0 && !token(at_ - 1).is(";") && !token(at_ - 1).is("{") && !token(at_ - 1).is("}")) return false;
    for (size_t i = at_; i < tokens_.size() && !tokens_[i].is(";") && !tokens_[i].is("["); ++i) {
      if (tokens_[i].is("*") || tokens_[i].is("&") || tokens_[i].is("=") || tokens_[i].is("(")) return false;
    }
    return true;
  }
  void threadgroup_variables() {
    line_of(now());
    size_t name = at_ + 1;
    while (tokens_[name + 1].identifier() || tokens_[name].is("<") ||
           (tokens_[name].identifier() && tokens_[name + 1].is("<")) || tokens_[name + 1].is("::") ||
           tokens_[name].is("::")) {
      name = tokens_[name + 1].is("<") ? behind_template(name + 1) : name + 1;
    }
    const std::string type = text_of(at_, name);
    while (!tokens_[name].is(";") && tokens_[name].kind != TokenKind::end) {
      size_t end = name + 1;
      while (tokens_[end].is("[")) end = behind_bracket(end);
      const std::string dimensions = text_of(name + 1, end);
      put(concat(type, "(&", tokens_[name].text, ")", dimensions, "= *(", type, "(*)", dimensions, ") 0;"));
      name = tokens_[end].is(",") ? end + 1 : end;
    }
    at_ = name;
  }

  const std::vector<Token>& tokens_;
  const std::vector<std::string>& files_;
  size_t at_ = 0;
  std::set<size_t> methods_;    // the tokens behind their parameters
  std::vector<size_t> braces_;  // that close what begins as constructed<T>(
  uint32_t line_ = 0, file_ = ~0u;
  std::string out_;
};

}  // namespace

Result<std::string> to_opencl(std::string_view preprocessed, std::string_view source_name) {
  SOFFIT_TRY(const Tokens tokens, tokens_of(preprocessed, source_name));
  return concat("#include \"opencl/metal.h\"\nusing namespace metal;\n", Writer(tokens).run(), "\n");
}

}  // namespace soffit::lanes
