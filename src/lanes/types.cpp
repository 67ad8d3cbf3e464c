// Types in Metal source: where they begin and end, and how the shim spells them.
#include <algorithm>

#include "core/concat.hpp"
#include "lanes/names.hpp"
#include "lanes/translator.hpp"

namespace soffit::lanes {
namespace {

bool is_qualifier(const Token& t) {
  return t.identifier() &&
         (is_address_space(t.text) || t.is("const") || t.is("volatile") || t.is("restrict") || t.is("__restrict") ||
          t.is("__restrict__") || t.is("typename") || t.is("struct") || t.is("coherent"));
}

}  // namespace

// A name that is a type, perhaps with namespaces before and arguments behind.
size_t Translator::named_type_end(size_t at) const {
  size_t i = at;
  while (tokens_[i].identifier() && tokens_[i + 1].is("::") && tokens_[i + 2].identifier()) i += 2;
  const Token& name = tokens_[i];
  if (!name.identifier()) return at;
  const bool is_template = is_type_template(name.text) || type_templates_.contains(name.text);
  if (is_template && tokens_[i + 1].is("<")) {
    size_t end = template_close(i + 1);
    if (end == 0) return at;
    ++end;
    if (tokens_[end].is("::") && tokens_[end + 1].is("type")) end += 2;
    return end;
  }
  return is_type_name(name.text) || types_.contains(name.text) || is_template ? i + 1 : at;
}

size_t Translator::type_end(size_t at) const {
  size_t i = at;
  bool found = false, address_space = false;
  for (;; ++i) {
    const Token& t = tokens_[i];
    if (!t.identifier()) break;
    if (is_qualifier(t)) {
      address_space |= is_address_space(t.text);
    } else if (is_type_word(t.text)) {
      found = true;
    } else if (found) {
      break;
    } else if (t.is("void") || t.is("auto")) {
      found = true;
    } else if (t.is("decltype")) {
      i = matching(i + 1);
      found = true;
    } else if (const size_t end = named_type_end(i); end != i) {
      i = end - 1;
      found = true;
    } else if (address_space && (tokens_[i + 1].identifier() || tokens_[i + 1].is("*") || tokens_[i + 1].is("&"))) {
      found = true;  // behind an address space a name is a type
    } else {
      break;
    }
  }
  return found ? i : at;
}

bool Translator::is_number_type(Range range) const {
  for (size_t i = range.begin; i < range.end; ++i) {
    const Token& t = tokens_[i];
    if (is_type_word(t.text) || is_type_name(t.text) || t.is("vec") || t.is("matrix") || t.is("simdgroup_matrix"))
      return true;
    if (t.identifier() && types_.contains(t.text)) return !structs_.contains(t.text);
  }
  return false;
}

// Words for numbers become one name of the shim: unsigned short int -> msl_ushort.
void Translator::type(size_t end) {
  while (at_ < end) {
    const Token& t = now();
    if (t.identifier() && is_type_word(t.text)) {
      line_of(t);
      bool is_unsigned = false;
      std::string_view word = "int";
      for (; at_ < end && is_type_word(now().text); ++at_) {
        if (now().is("unsigned")) is_unsigned = true;
        if (!now().is("unsigned") && !now().is("signed") && !now().is("int")) word = now().text;
      }
      put(concat("msl_", is_unsigned ? "u" : "", word));
    } else if (t.is("const") || t.is("typename")) {
      copy();
    } else if (is_qualifier(t)) {
      ++at_;
    } else if (t.is("<")) {
      const size_t close = template_close(at_);
      copy();
      raw(close);
      copy();
    } else if (t.is("decltype")) {
      copy();
      raw(matching(at_) + 1);
    } else {
      copy();
    }
  }
}

void Translator::pointer_marks(size_t end) {
  for (; at_ < end; ++at_) {
    const Token& t = now();
    if (t.is("*") || t.is("&") || t.is("const")) {
      line_of(t);
      put(t.text);
    } else if (!is_qualifier(t)) {
      return;
    }
  }
}

size_t Translator::parenthesised_type(size_t open) const {
  size_t i = type_end(open + 1);
  if (i == open + 1) return 0;
  while (tokens_[i].is("*") || tokens_[i].is("&") || is_qualifier(tokens_[i])) ++i;
  return tokens_[i].is(")") ? i + 1 : 0;
}

}  // namespace soffit::lanes
