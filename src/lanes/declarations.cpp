// Declarations of namespace scope: types, functions, constants, instantiations.
#include <algorithm>
#include <utility>

#include "core/concat.hpp"
#include "lanes/names.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {

void Translator::declarations(size_t end) {
  while (at_ < end) declaration();
}

bool Translator::attributes_begin(size_t at) const {
  return tokens_[at].is("[") && tokens_[at + 1].is("[") && tokens_[at + 1].column == tokens_[at].column + 1;
}

size_t Translator::attributes_end(size_t at, Attributes* to) {
  const size_t close = matching(at);
  for (size_t i = at + 2; i + 1 < close && to; ++i) {
    Attribute attribute{std::string(tokens_[i].text), {}};
    if (tokens_[i + 1].is("::")) attribute.name = tokens_[i += 2].text;
    if (tokens_[i + 1].is("(")) {
      const size_t arguments = matching(i + 1);
      attribute.arguments = text_of({i + 2, arguments});
      i = arguments;
    }
    to->push_back(std::move(attribute));
    if (tokens_[i + 1].is(",")) ++i;
  }
  return close + 1;
}

std::string Translator::host_name(const Attribute& attribute, size_t token) const {
  const std::string_view text = attribute.arguments;
  const size_t close = text.rfind('"');
  if (!text.starts_with('"') || close == 0) fault(token, "host_name needs a name in quotes");
  return std::string(text.substr(1, close - 1));
}

void Translator::declaration(bool is_template) {
  const Token& t = now();
  if (t.is(";")) return copy();
  if (t.is("namespace")) {
    const size_t open = find(at_, tokens_.size() - 1, "{"), semicolon = find(at_, tokens_.size() - 1, ";");
    if (semicolon < open) return raw(semicolon + 1);
    const size_t close = matching(open);
    const std::string outer = namespace_;
    if (at_ + 1 < open) namespace_ += text_of({at_ + 1, open}) + "::";
    raw(open);
    copy();
    declarations(close);
    namespace_ = outer;
    return copy();
  }
  if (t.is("using") && next().is("namespace") && next(2).is("metal")) {
    at_ = find(at_, tokens_.size() - 1, ";") + 1;
    return;
  }
  if (t.is("using") && next().is("namespace")) return raw(find(at_, tokens_.size() - 1, ";") + 1);
  if (t.is("using") || t.is("typedef")) return alias();
  if (t.is("static_assert")) return static_assertion();
  if (t.is("template")) {
    if (!next().is("<")) return instantiation();
    template_header();
    return declaration(true);
  }
  const size_t semicolon = find(at_, tokens_.size() - 1, ";"), brace = find(at_, tokens_.size() - 1, "{");
  if ((t.is("struct") || t.is("union") || t.is("enum") || t.is("class")) &&
      (brace < semicolon || semicolon == at_ + 2)) {
    if (is_template) type_templates_.insert(std::string(next().text));
    return type_definition();
  }
  function_or_variable(is_template, false);
}

void Translator::static_assertion() {
  raw(find(at_, tokens_.size() - 1, ";"));
  copy();
}

// Parameters that are numbers are the machine's own: constants of the compiler.
void Translator::template_header() {
  const size_t open = at_ + 1, close = template_close(open);
  if (close == 0) fault(open, "'<' is never closed");
  copy();
  copy();
  while (at_ < close) {
    size_t end = at_;
    while (end < close && !tokens_[end].is(",")) {
      end = tokens_[end].is("(") ? matching(end) + 1 : tokens_[end].is("<") ? template_close(end) + 1 : end + 1;
    }
    if (now().is("typename") || now().is("class")) {
      if (next().identifier()) types_.insert(std::string(next().text));
      while (at_ < end && !now().is("=")) copy();
      raw(end);
    } else if (now().is("template")) {
      fault(at_, "template template parameters are not known here");
    } else {
      const size_t ends = type_end(at_);
      const bool number = ends != at_ && tokens_[ends].identifier() && is_number_type({at_, ends});
      if (number) {
        line_of(now());
        put("NativeConstant<");
        type(ends);
        put(">");
      }
      raw(end);
    }
    if (at_ < close) copy();
  }
  copy();
}

// template [[host_name("x")]] kernel void f<…>(…);  lists a kernel; others say nothing that C++ does not find out.
void Translator::instantiation() {
  const size_t end = find(at_, tokens_.size() - 1, ";");
  Attributes attributes;
  for (size_t i = at_ + 1; i < end;) {
    if (attributes_begin(i)) {
      i = attributes_end(i, &attributes);
      continue;
    }
    const auto kernel = std::ranges::find(kernels_, tokens_[i].text, &ParsedKernel::name);
    if (tokens_[i].identifier() && kernel != kernels_.end()) {
      const size_t ends = tokens_[i + 1].is("<") ? template_close(i + 1) + 1 : i + 1;
      const std::string expression = text_of({i, ends});
      const auto name = std::ranges::find(attributes, "host_name", &Attribute::name);
      const bool named = name != attributes.end();
      entries_.push_back({named ? host_name(*name, i) : expression, expression, size_t(kernel - kernels_.begin())});
      break;
    }
    ++i;
  }
  at_ = end + 1;
}

// using X = …;  typedef … X;
void Translator::alias() {
  const size_t end = find(at_, tokens_.size() - 1, ";");
  const bool is_typedef = now().is("typedef");
  copy();
  if (is_typedef && find(at_, end, "{") != end) return type_definition();
  size_t name = is_typedef ? end - 1 : at_;
  if (is_typedef && tokens_[name].is(")")) {  // void (*name)(…)
    const size_t mark = find(at_, end, "(");
    name = mark + 2;
  }
  types_.insert(std::string(tokens_[name].text));
  raw(end);
  copy();
}

void Translator::type_definition() {
  const bool is_enum = now().is("enum");
  if (is_enum) {
    while (!now().is("{") && !now().is(";") && !now().is(":")) {
      if (now().identifier() && !now().is("enum") && !now().is("class")) types_.insert(std::string(now().text));
      copy();
    }
    if (now().is(":")) {
      copy();
      put("NativeConstant<");
      type(type_end(at_));
      put(">");
    }
    raw(find(at_, tokens_.size() - 1, ";"));
    if (const Token& t = tokens_[at_ - 1]; t.identifier()) types_.insert(std::string(t.text));
    return copy();
  }
  const bool is_struct = now().is("struct");
  copy();
  while (attributes_begin(at_)) at_ = attributes_end(at_);
  const bool nameless = is_struct && now().is("{");
  if (now().identifier()) {
    types_.insert(std::string(now().text));
    structs_.insert(std::string(now().text));
    copy();
  }
  if (now().is(";")) return copy();
  if (now().is(":")) raw(find(at_, tokens_.size() - 1, "{"));
  const size_t close = matching(at_);
  expect("{");
  const bool outer = std::exchange(anonymous_, nameless && tokens_[close + 1].is(";"));
  struct_body(close);
  anonymous_ = outer;
  copy();
  // Behind a typedef's body stand names of the type, else of variables.
  for (size_t i = at_; !tokens_[i].is(";"); ++i) {
    if (!tokens_[i].identifier()) continue;
    types_.insert(std::string(tokens_[i].text));
    structs_.insert(std::string(tokens_[i].text));
  }
  raw(find(at_, tokens_.size() - 1, ";"));
  copy();
}

void Translator::struct_body(size_t end) {
  while (at_ < end) {
    const Token& t = now();
    if (t.is("public") || t.is("private") || t.is("protected")) {
      copy();
      copy();
    } else if (t.is(";")) {
      copy();
    } else if (t.is("using") || t.is("typedef")) {
      alias();
    } else if (t.is("static_assert")) {
      static_assertion();
    } else if (t.is("struct") || t.is("union") || t.is("enum")) {
      type_definition();
    } else if (t.is("template")) {
      template_header();
      function_or_variable(true, true);
    } else {
      function_or_variable(false, true);
    }
  }
}

// The words before a function's or variable's name.
void Translator::specifiers(size_t end, bool member) {
  while (at_ < end) {
    if (attributes_begin(at_)) {
      at_ = attributes_end(at_);
    } else if (now().is("static") && member) {
      copy();
    } else if (now().is("kernel") || now().is("static") || now().is("inline") || now().is("extern")) {
      ++at_;
    } else if (const size_t ends = std::min(type_end(at_), end); ends != at_) {
      const size_t begin = at_;
      type(ends);
      refuse_without_address_space({begin, ends}, at_);
      pointer_marks(end);
    } else {
      copy();
    }
  }
}

void Translator::function_or_variable(bool is_template, bool member) {
  Attributes attributes;
  const size_t last = tokens_.size() - 1;
  bool is_constant = false, is_constexpr = false;
  size_t i = at_;
  for (; i < last; ++i) {
    const Token& t = tokens_[i];
    if (attributes_begin(i)) {
      i = attributes_end(i, &attributes) - 1;
      continue;
    }
    if (t.is("kernel")) attributes.push_back({"kernel", {}});
    if (t.is("vertex") || t.is("fragment") || t.is("mesh"))
      fault(i, concat("'", t.text, "' functions are not known here"));
    is_constant |= t.is("constant");
    is_constexpr |= t.is("constexpr");
    if (t.is("decltype")) i = matching(i + 1);
    if (t.is("<") && template_close(i)) i = template_close(i);
    if (t.is("operator")) {
      while (!tokens_[i].is("(")) ++i;
    }
    if (tokens_[i].is("(") || t.is("=") || t.is(";") || t.is("[") || t.is("{") || t.is(":")) break;
  }
  const size_t end = find(at_, last, ";");
  if (tokens_[i].is("(")) {
    size_t name = i - 1;
    for (size_t k = at_; k < i; ++k) {
      if (tokens_[k].is("operator")) name = k;
    }
    return function(name, attributes, is_template, member);
  }
  if (member && !is_constexpr) {
    if (tokens_[i].is(":")) fault(i, "bit fields are not known here");
    for (size_t k = at_ + 1; k < end; ++k) {
      if (tokens_[k].identifier() && !tokens_[k + 1].identifier()) members_.insert(std::string(tokens_[k].text));
    }
    anonymous_member();
    raw(end);
    return copy();
  }
  if (member) return constant_variable(end);
  if (!is_constant && !is_constexpr)
    fault(at_, "a variable of namespace scope has to be in the constant address space");
  global_variable(end, attributes);
}

// The type of a number in an anonymous struct; see shim/member.h.
void Translator::anonymous_member() {
  const size_t ends = type_end(at_);
  const bool scalar = anonymous_ && checked() && ends == at_ + 1 && tokens_[ends].identifier() &&
                      !tokens_[ends + 1].is("[") && is_number_type({at_, ends});
  if (!scalar || (now().text.back() >= '2' && now().text.back() <= '4')) return;
  line_of(now());
  put("lanes::Member<NativeConstant<");
  type(ends);
  put(">>");
  uses_members_ = true;
}

void Translator::global_variable(size_t end, const Attributes& attributes) {
  static constexpr std::string_view kSkipped[] = {"constant", "constexpr", "static", "const", "inline", "extern"};
  const auto skip = [this] {
    while (std::ranges::find(kSkipped, now().text) != std::end(kSkipped)) ++at_;
  };
  line_of(now());
  skip();
  const size_t type_ends = type_end(at_);
  const std::string type_text = text_of({at_, type_ends});
  at_ = type_ends;
  skip();
  if (!now().identifier()) fault(at_, concat("a name expected before '", now().text, "'"));
  const std::string name(now().text);
  const bool array = next().is("[") && !attributes_begin(at_ + 1);
  const auto function_constant = std::ranges::find(attributes, "function_constant", &Attribute::name);
  if (function_constant != attributes.end()) {
    put(concat(in_memory(), "NativeConstant<", type_text, "> ", name, "{}; ", in_memory(), "bool ", name,
               "_is_defined = false;"));
    constants_.push_back({name, function_constant->arguments});
    derived_names_.insert(name);
    at_ = end + 1;
    return;
  }
  bool derived = false;
  for (size_t i = at_; i < end; ++i) {
    const Token& t = tokens_[i];
    derived |= t.identifier() && (derived_names_.contains(t.text) || t.is("is_function_constant_defined"));
  }
  if (derived) {
    const size_t equals = find(at_, end, "=");
    if (array || equals == end) fault(at_, "an array cannot depend on function constants here");
    put(concat(in_memory(), "NativeConstant<", type_text, "> ", name, "{};"));
    derived_ += concat("  ", name, " = ", text_of({equals + 1, end}), ";\n");
    derived_names_.insert(name);
    at_ = end + 1;
    return;
  }
  put(array ? concat("alignas(16) ", in_memory(), type_text)
            : concat("static constexpr NativeConstant<", type_text, ">"));
  if (array) arrays_.push_back(namespace_ + name);
  raw(end);
  expect(";");
}

}  // namespace soffit::lanes
