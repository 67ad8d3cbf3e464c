// Prints a large JSON object member by member, so that it is never in memory as a whole.
#pragma once

#include <string_view>

#include "table.hpp"

namespace soffit::tool {

class JsonPrinter {
 public:
  JsonPrinter() { print_opening('{'); }

  void member(std::string_view key, const Json& value);
  // Members of a nested object, or elements of a nested array, one a line, until end().
  void begin_object(std::string_view key);
  void begin_array(std::string_view key);
  void element(const Json& value);
  void end();  // of the innermost object or array; the last one ends the text

 private:
  void print_opening(char bracket);
  void next_line();

  std::string closing_;  // brackets that are still to come, innermost last
  bool first_ = true;
};

}  // namespace soffit::tool
