// Expressions: types in the shim's names, numbers as Metal reads them, and a site for every operator.
#include <algorithm>
#include <utility>

#include "core/concat.hpp"
#include "lanes/names.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {
namespace {

bool among(std::initializer_list<std::string_view> list, const Token& t) {
  return t.kind != TokenKind::text && std::ranges::find(list, t.text) != list.end();
}

bool is_compound_assignment(const Token& t) {
  return among({"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}, t);
}

// Words behind which an operand begins.
bool is_operator_word(const Token& t) {
  return among({"return", "case", "else", "do", "static", "inline", "constexpr"}, t);
}

}  // namespace

void Translator::raw(size_t end) {
  const bool before = raw_;
  raw_ = true;
  expression(end);
  raw_ = before;
}

std::string Translator::text_of(Range range) {
  const size_t at = at_;
  const bool text = raw_text_;
  std::string aside;
  std::swap(aside, out_);
  raw_text_ = true;
  at_ = range.begin;
  raw(range.end);
  std::swap(aside, out_);
  raw_text_ = text;
  at_ = at;
  return aside;
}

void Translator::expression(size_t end) {
  after_operand_ = behind_cast_ = false;
  const uint32_t outer_depth = std::exchange(depth_, 0);
  const auto outer_conditions = std::exchange(conditions_, {});
  while (at_ < end) {
    const Token& t = now();
    if (t.kind == TokenKind::number) {
      number();
    } else if (t.kind == TokenKind::text) {
      copy();
      after_operand_ = true;
    } else if (t.identifier()) {
      identifier(end);
    } else {
      punctuator();
      continue;  // it has set behind_cast_
    }
    behind_cast_ = false;
  }
  depth_ = outer_depth;
  conditions_ = outer_conditions;
}

void Translator::identifier(size_t end) {
  const Token& t = now();
  if (const size_t type = type_end(at_); type != at_) return typed(end, type);
  if (among({"sizeof", "alignof", "decltype", "is_function_constant_defined"}, t)) {
    if (t.is("is_function_constant_defined")) {
      const std::string name(next(2).text);
      optional_.insert(name);
      line_of(t);
      put(concat(name, "_is_defined"));
      at_ = matching(at_ + 1) + 1;
    } else {
      copy();
      if (now().is("(")) {
        const size_t close = matching(at_);
        copy();
        raw(close);
        copy();
      }
    }
    after_operand_ = true;
    return;
  }
  const bool is_template = is_function_template(t.text) || function_templates_.contains(t.text);
  if (is_template && next().is("<") && template_close(at_ + 1)) return template_call();
  if (checked() && next().is("(") && is_library_function(t.text) && !own_functions_.contains(t.text)) {
    copy();
    return call_with_place();
  }
  after_operand_ = !is_operator_word(t);
  copy();
}

// A type: of a declaration, of a call that converts, or of a brace initialiser.
void Translator::typed(size_t end, size_t type_ends) {
  const Range range{at_, type_ends};
  const Token& behind = tokens_[type_ends];
  const bool converts =
      behind.is("(") && type_ends < end && !tokens_[type_ends + 1].is("*") && !tokens_[type_ends + 1].is("&");
  if (checked() && converts && is_number_type(range)) {
    const Token& first = now();
    line_of(first);
    put("lanes::make<");
    type(type_ends);
    put(">");
    call_with_place();
    return;
  }
  type(type_ends);
  refuse_without_address_space(range, at_);
  pointer_marks(end);
  after_operand_ = false;
}

void Translator::call_with_place() {
  const Token& name = tokens_[at_ - 1];
  copy();  // (
  ++depth_;
  put(at(name, name.text));
  if (!now().is(")")) put(",");
  after_operand_ = false;
}

// f<…>(…). static_cast of a number is a conversion like any other.
void Translator::template_call() {
  const Token& name = now();
  const size_t open = at_ + 1, close = template_close(open);
  const bool call = checked() && tokens_[close + 1].is("(");
  const bool conversion = call && name.is("static_cast") && is_number_type({open + 1, close}) &&
                          find(open + 1, close, "*") == close && find(open + 1, close, "&") == close;
  line_of(name);
  put(conversion ? "lanes::make" : name.text);
  at_ = open;
  copy();
  raw(close);
  copy();
  if (call && (conversion || (is_library_function(name.text) && !own_functions_.contains(name.text))))
    return call_with_place();
  after_operand_ = true;
}

void Translator::number() {
  const Token& t = now();
  line_of(t);
  std::string digits(t.text);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const bool floating =
      hexadecimal ? digits.find_first_of("pP") != std::string::npos : digits.find_first_of(".eE") != std::string::npos;
  if (floating) {
    const auto ends = [&](std::string_view suffix) {
      if (!digits.ends_with(suffix)) return false;
      digits.resize(digits.size() - suffix.size());
      return true;
    };
    if (ends("bf") || ends("BF")) {
      digits = concat("bfloat_literal(", digits, "f)");
    } else if (ends("h") || ends("H")) {
      digits = concat("half_literal(", digits, "f)");
    } else {
      if (!ends("f") && !ends("F")) {
        add_once(remarks_,
                 concat(where(at_), "'", t.text,
                        "' has no suffix: it is a float, and makes one of a half beside it; 'f' or 'h' says so"));
      }
      digits += "f";
    }
  }
  put(digits);
  ++at_;
  after_operand_ = true;
}

void Translator::punctuator() {
  const Token& t = now();
  const bool behind_cast = behind_cast_;
  behind_cast_ = false;
  if (t.is("(") || t.is("[") || t.is("{")) return opening();
  if (t.is(")") || t.is("]") || t.is("}")) {
    --depth_;
    copy();
    after_operand_ = true;
  } else if (t.is(".") || t.is("->")) {
    member_access();
  } else if (t.is("?")) {
    question();
  } else if (t.is(":") && !conditions_.empty() && conditions_.back().depth == depth_) {
    copy();
    if (checked()) put(concat("lanes::Arm{", conditions_.back().site, "} ="));
    conditions_.pop_back();
    after_operand_ = false;
  } else if (after_operand_ && t.is(">") && next().is(">") && next().column == t.column + 1 && next().line == t.line) {
    binary(2);
  } else if (after_operand_ &&
             among({"+", "-", "*", "/", "%", "&", "|", "^", "<<", "<", ">", "<=", ">=", "==", "!="}, t)) {
    binary(1);
  } else if (is_compound_assignment(t)) {
    copy();
    if (checked()) put(concat(at(t, t.text), " ="));
    after_operand_ = false;
  } else if (!after_operand_ && (t.is("-") || t.is("~")) && !behind_cast) {
    unary();
  } else {
    const bool postfix = after_operand_ && (t.is("++") || t.is("--"));
    copy();
    after_operand_ = postfix;
  }
}

void Translator::opening() {
  const Token& t = now();
  if (t.is("[") && !after_operand_ && !raw_) fault(at_, "lambdas are not known here");
  const size_t behind = t.is("(") && !after_operand_ ? parenthesised_type(at_) : 0;
  if (behind && (tokens_[behind].identifier() || tokens_[behind].kind == TokenKind::number ||
                 among({"(", "-", "~", "!", "*", "&", "+"}, tokens_[behind]))) {
    const Range range{at_ + 1, behind - 1};
    const bool number = is_number_type(range) && !tokens_[behind - 2].is("*") && !tokens_[behind - 2].is("&");
    if (checked() && number) {
      line_of(t);
      ++at_;
      put("lanes::cast<");
      type(range.end);
      put(concat(">(", at(t, "cast"), ")->*"));
      ++at_;
      behind_cast_ = true;
    } else {
      copy();
      type(type_end(at_));
      refuse_without_address_space(range, at_);
      pointer_marks(range.end);
      copy();
    }
    after_operand_ = false;
    return;
  }
  ++depth_;
  copy();
  after_operand_ = false;
}

void Translator::binary(size_t length) {
  const Token& t = now();
  const std::string op = length == 2 ? ">>" : std::string(t.text);
  line_of(t);
  put(op);
  if (checked()) put(concat(at(t, op), " ", op));
  at_ += length;
  after_operand_ = false;
}

void Translator::unary() {
  const Token& t = now();
  const bool plain = next().kind == TokenKind::number || next().is("-") || next().is("~");
  copy();
  if (!checked() || plain) return;
  put(concat(at(t, t.text), "->*"));
  behind_cast_ = true;
}

// Both sides have one site: whichever a lane takes, it selects.
void Translator::question() {
  const Token& t = now();
  copy();
  conditions_.push_back({depth_, checked() ? site(t, "?") : 0});
  if (checked()) put(concat("lanes::Arm{", conditions_.back().site, "} ="));
  after_operand_ = false;
}

void Translator::member_access() {
  copy();
  const Token& name = now();
  const std::string indices = name.identifier() && !members_.contains(name.text) ? swizzle_indices(name.text) : "";
  if (indices.empty()) {
    if (name.identifier()) copy();
  } else {
    const bool target = next().is("=") || is_compound_assignment(next());
    put(concat("template swizzle", target ? "_target" : "", "<", indices, ">()"));
    ++at_;
  }
  after_operand_ = true;
}

}  // namespace soffit::lanes
