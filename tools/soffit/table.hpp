// Results as text for people, Markdown, CSV or JSON, from one description of the rows.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "options.hpp"

namespace soffit::tool {

using Json = nlohmann::ordered_json;

// A column of text, md and csv, taken from the member `key` of each row.
struct Column {
  std::string key;      // the JSON member, and the heading in csv
  std::string heading;  // in text and md
  // The value as people read it, in text and md; as it stands in JSON when empty. csv always has the value itself.
  std::function<std::string(const Json&)> show;
};

// Prints the rows, which are JSON objects: with Output::json as an array with all their members, else the columns'
// ones.
void print_rows(Output output, std::span<const Column> columns, const std::vector<Json>& rows);
// Prints one value, over several lines, and a newline.
void print_json(const Json& value);
// The value on one line, or with an indent. Invalid UTF-8 becomes U+FFFD; JSON has no other way.
std::string json_text(const Json& value, int indent = -1);

// For Column::show.
std::string show_bytes(const Json& value);                         // 98.4 MB: powers of 1000
std::function<std::string(const Json&)> show_fixed(int decimals);  // 3.14
std::string show_grouped(const Json& value);                       // 12 345 678

}  // namespace soffit::tool
