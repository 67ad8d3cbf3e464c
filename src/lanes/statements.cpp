// Statements: each gets its place; loops get a scope.
#include <algorithm>

#include "core/concat.hpp"
#include "lanes/names.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {

void Translator::place() {
  if (!checked()) return;
  line_of(now());
  put(concat("lanes::at(", site(now(), "statement"), ");"));
}

void Translator::block() {
  expect("{");
  while (!now().is("}")) {
    if (now().kind == TokenKind::end) fault(at_, "'}' expected before the end of the file");
    statement();
  }
  copy();
}

// What an if or a loop governs, always in braces: a statement may become several.
void Translator::body() {
  if (now().is("{")) return block();
  put("{");
  statement();
  put("}");
}

void Translator::parenthesised() {
  if (!now().is("(")) fault(at_, concat("'(' expected before '", now().text, "'"));
  const size_t close = matching(at_);
  copy();
  expression(close);
  copy();
}

void Translator::statement() {
  while (attributes_begin(at_)) at_ = attributes_end(at_);
  const Token& t = now();
  if (t.is("{")) return block();
  if (t.is(";")) return copy();
  if (t.is("if")) {
    place();
    copy();
    if (now().is("constexpr")) copy();
    parenthesised();
    body();
    if (!now().is("else")) return;
    copy();
    return body();
  }
  if (t.is("for") || t.is("while")) return loop();
  if (t.is("do")) return do_loop();
  if (t.is("switch")) {
    place();
    copy();
    parenthesised();
    return block();
  }
  if (t.is("case") || t.is("default")) {
    const size_t colon = find(at_, tokens_.size() - 1, ":");
    copy();
    raw(colon);
    return copy();
  }
  if (t.is("break") || t.is("continue")) {
    copy();
    return expect(";");
  }
  if (t.is("using") || t.is("typedef")) return alias();
  if (t.is("static_assert")) return static_assertion();
  if ((t.is("struct") || t.is("union") || t.is("enum")) &&
      find(at_, tokens_.size() - 1, "{") < find(at_, tokens_.size() - 1, ";")) {
    return type_definition();
  }
  simple_statement();
}

void Translator::loop() {
  const auto scope = uint32_t(scopes_.size());
  if (checked()) {
    place();
    scopes_.push_back({site(now(), "loop"), 0, true, "loop"});
    put(concat("{ lanes::InScope scope_", scope, "(", scope, ");"));
  }
  const bool in_scope = checked();
  copy();
  parenthesised();
  body();
  if (in_scope) {
    put("}");
    scopes_[scope].last = uint32_t(sites_.size());
  }
}

void Translator::do_loop() {
  const auto scope = uint32_t(scopes_.size());
  if (checked()) {
    place();
    scopes_.push_back({site(now(), "loop"), 0, true, "loop"});
    put(concat("{ lanes::InScope scope_", scope, "(", scope, ");"));
  }
  const bool in_scope = checked();
  copy();
  body();
  if (!now().is("while")) fault(at_, "'while' expected behind do");
  copy();
  parenthesised();
  expect(";");
  if (in_scope) {
    put("}");
    scopes_[scope].last = uint32_t(sites_.size());
  }
}

// A declaration or an expression.
void Translator::simple_statement() {
  const size_t end = find(at_, tokens_.size() - 1, ";");
  bool is_constant = false, in_threadgroup = false, marks = false;
  for (size_t i = at_; i < end && !tokens_[i].is("=") && !tokens_[i].is("["); ++i) {
    is_constant |= tokens_[i].is("constexpr");
    in_threadgroup |= tokens_[i].is("threadgroup");
    marks |= tokens_[i].is("*") || tokens_[i].is("&") || tokens_[i].is("(");
  }
  refuse_local_variable(end, is_constant, marks);
  if (in_threadgroup && !marks) return threadgroup_variables(end);
  if (is_constant) return constant_variable(end);
  place();
  if (now().is("return")) copy();
  expression(end);
  expect(";");
}

// threadgroup float a[32], b;  becomes references to memory that the threadgroup's lanes share; CUDA has such
// variables.
void Translator::threadgroup_variables(size_t end) {
  const size_t type_ends = type_end(at_);
  const std::string type = text_of({at_, type_ends});
  place();
  line_of(now());
  at_ = type_ends;
  while (at_ < end) {
    const size_t declarator_end = find(at_, end, ",");
    if (!now().identifier()) fault(at_, "the name of a threadgroup variable expected");
    if (find(at_, declarator_end, "=") != declarator_end) fault(at_, "a threadgroup variable has no initialiser");
    const std::string name(now().text), dimensions = text_of({at_ + 1, declarator_end});
    const std::string alias = concat("Shared_", serial_);
    if (cuda()) {
      put(concat("__shared__ alignas(16) ", type, name, dimensions, ";"));
    } else {
      put(concat("using ", alias, " = ", type, dimensions, "; ", alias, "& ", name, " = lanes::threadgroup_variable<",
                 alias, ">(", serial_, ");"));
    }
    ++serial_;
    at_ = declarator_end + (declarator_end < end ? 1 : 0);
  }
  at_ = end + 1;
}

// constexpr: a constant of the machine's own type, which costs nothing to compute with.
void Translator::constant_variable(size_t end) {
  line_of(now());
  put("static constexpr");
  while (at_ < end && (now().is("constexpr") || now().is("static") || now().is("const") || now().is("inline") ||
                       (now().identifier() && is_address_space(now().text)))) {
    ++at_;
  }
  const size_t type_ends = type_end(at_);
  if (type_ends == at_) fault(at_, concat("a type expected before '", now().text, "'"));
  if (now().is("auto")) {
    copy();
  } else {
    put("NativeConstant<");
    type(type_ends);
    put(">");
    while (now().is("const") || (now().identifier() && is_address_space(now().text))) ++at_;
  }
  expression(end);
  expect(";");
}

}  // namespace soffit::lanes
