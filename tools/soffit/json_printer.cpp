#include "json_printer.hpp"

#include <fmt/format.h>

#include "console.hpp"

namespace soffit::tool {

void JsonPrinter::print_opening(char bracket) {
  print(std::string_view(&bracket, 1));
  closing_ += bracket == '{' ? '}' : ']';
  first_ = true;
}

void JsonPrinter::next_line() {
  print(first_ ? "\n" : ",\n");
  print(std::string(2 * closing_.size(), ' '));
  first_ = false;
}

void JsonPrinter::member(std::string_view key, const Json& value) {
  next_line();
  print(fmt::format("{}: {}", json_text(Json(key)), json_text(value)));
}

void JsonPrinter::begin_object(std::string_view key) {
  next_line();
  print(json_text(Json(key)) + ": ");
  print_opening('{');
}

void JsonPrinter::begin_array(std::string_view key) {
  next_line();
  print(json_text(Json(key)) + ": ");
  print_opening('[');
}

void JsonPrinter::element(const Json& value) {
  next_line();
  print(json_text(value));
}

void JsonPrinter::end() {
  const char bracket = closing_.back();
  closing_.pop_back();
  if (!first_) print("\n" + std::string(2 * closing_.size(), ' '));
  print(std::string_view(&bracket, 1));
  first_ = false;
  if (closing_.empty()) print("\n");
}

}  // namespace soffit::tool
