#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "console.hpp"
#include "core/escape.hpp"

namespace soffit::tool {
namespace {

// A value without a member of that name is an empty cell.
const Json& member(const Json& row, const std::string& key) {
  static const Json missing;
  const auto found = row.find(key);
  return found == row.end() ? missing : *found;
}

std::string plain(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::string shown(const Column& column, const Json& row) {
  const Json& value = member(row, column.key);
  if (value.is_null()) return "";
  return printable(column.show ? column.show(value) : plain(value));
}

// Terminal columns, taking every character as one wide: enough for names and numbers.
size_t width(std::string_view text) {
  return size_t(std::ranges::count_if(text, [](char c) { return (uint8_t(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t columns, bool right) {
  const std::string fill(columns - std::min(columns, width(text)), ' ');
  return right ? fill + text : text + fill;
}

// RFC 4180.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string markdown_cell(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

void print_csv(std::span<const Column> columns, const std::vector<Json>& rows) {
  const auto line = [&](auto cell) {
    std::string text;
    for (size_t i = 0; i < columns.size(); i++) text += (i ? "," : "") + csv_cell(cell(columns[i]));
    print(text + "\n");
  };
  line([](const Column& column) { return column.key; });
  for (const Json& row : rows) {
    line([&](const Column& column) { return plain(member(row, column.key)); });
  }
}

void print_aligned(bool markdown, std::span<const Column> columns, const std::vector<Json>& rows) {
  std::vector<std::vector<std::string>> cells(rows.size());
  std::vector<size_t> widths;
  std::vector<bool> right;  // numbers stand to the right
  for (size_t c = 0; c < columns.size(); c++) {
    size_t widest = width(columns[c].heading);
    bool numbers = !rows.empty();
    for (size_t r = 0; r < rows.size(); r++) {
      std::string cell = shown(columns[c], rows[r]);
      if (markdown) cell = markdown_cell(cell);
      widest = std::max(widest, width(cell));
      const Json& value = member(rows[r], columns[c].key);
      numbers = numbers && (value.is_number() || value.is_null());
      cells[r].push_back(std::move(cell));
    }
    widths.push_back(widest);
    right.push_back(numbers);
  }
  const auto line = [&](auto cell) {
    std::string text = markdown ? "|" : "";
    for (size_t c = 0; c < columns.size(); c++) {
      text += markdown ? " " + cell(c) + " |" : (c ? "  " : "") + cell(c);
    }
    while (text.ends_with(' ')) text.pop_back();
    print(text + "\n");
  };
  line([&](size_t c) {
    const std::string heading = padded(columns[c].heading, widths[c], right[c]);
    return markdown ? heading : styled(heading, Style::bold);
  });
  if (markdown) {
    line([&](size_t c) { return std::string(widths[c] - 1, '-') + (right[c] ? ":" : "-"); });
  }
  for (const auto& row : cells) {
    line([&](size_t c) { return padded(row[c], widths[c], right[c]); });
  }
}

}  // namespace

void print_rows(Output output, std::span<const Column> columns, const std::vector<Json>& rows) {
  switch (output) {
    case Output::json:
      return print_json(Json(rows));
    case Output::csv:
      return print_csv(columns, rows);
    case Output::md:
    case Output::text:
      return print_aligned(output == Output::md, columns, rows);
  }
}

void print_json(const Json& value) { print(json_text(value, 2) + "\n"); }

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string show_bytes(const Json& value) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double bytes = value.get<double>();
  size_t unit = 0;
  for (; bytes >= 999.95 && unit + 1 < std::size(kUnits); unit++) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::function<std::string(const Json&)> show_fixed(int decimals) {
  return [decimals](const Json& value) { return fmt::format("{:.{}f}", value.get<double>(), decimals); };
}

std::string show_grouped(const Json& value) {
  std::string digits = fmt::format("{}", value.get<int64_t>());
  const int first = digits.starts_with('-') ? 1 : 0;
  for (int i = int(digits.size()) - 3; i > first; i -= 3) digits.insert(size_t(i), " ");
  return digits;
}

}  // namespace soffit::tool
