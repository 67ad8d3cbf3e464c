#include "option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/escape.hpp"

namespace soffit::tool {
namespace {

std::string shown(std::string_view text) { return fmt::format("'{}'", escaped(text, 40)); }

// The whole text as a number of this type.
template <class T>
std::optional<T> read(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::vector<int64_t>> parse_sizes(std::string_view text) {
  std::vector<int64_t> sizes;
  for (;;) {
    const size_t comma = text.find(',');
    SOFFIT_TRY(const int64_t size, parse_size(text.substr(0, comma)));
    sizes.push_back(size);
    if (comma == std::string_view::npos) return sizes;
    text.remove_prefix(comma + 1);
  }
}

Result<int64_t> parse_size_between(std::string_view text, int64_t least, int64_t most) {
  SOFFIT_TRY(const int64_t size, parse_size(text));
  if (size >= least && size <= most) return size;
  return invalid_argument(most == kNoLimit ? fmt::format("{} is less than {}", shown(text), least)
                                           : fmt::format("{} is not from {} to {}", shown(text), least, most));
}

// `parse` gives a Result; its error is what CLI11 reports.
template <class Parse, class Value>
Option add_parsed(CLI::App& app, const std::string& names, Value& value, const std::string& description,
                  const char* type, Parse parse) {
  const auto check = [parse](const std::string& text) {
    const auto parsed = parse(text);
    return parsed ? std::string() : parsed.error().message;
  };
  const auto set = [&value, parse](const std::string& text) { value = *parse(text); };
  return Option(
      app.add_option_function<std::string>(names, set, description)->check(CLI::Validator(check, ""))->type_name(type));
}

CLI::Validator one_of(std::vector<std::string> names) {
  const auto check = [names = std::move(names)](const std::string& text) {
    if (std::ranges::find(names, text) != names.end()) return std::string();
    return fmt::format("there is no {}; there are {}", shown(text), fmt::join(names, ", "));
  };
  return CLI::Validator(check, "");
}

std::string refuse_empty(const std::string& text) { return text.empty() ? "an empty name" : ""; }

}  // namespace

Result<int64_t> parse_size(std::string_view text) {
  const auto error = [&] {
    return invalid_argument(
        fmt::format("{} is not a size: a whole number, or a number and K, M or G (powers of 1000)", shown(text)));
  };
  std::string_view digits = text;
  int decimals = 0;  // decimal places by which the suffix moves the point
  if (!digits.empty()) {
    const char suffix = digits.back() | 0x20;
    decimals = suffix == 'k' ? 3 : suffix == 'm' ? 6 : suffix == 'g' ? 9 : 0;
    if (decimals) digits.remove_suffix(1);
  }
  const size_t point = digits.find('.');
  const std::string_view whole = digits.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? std::string_view() : digits.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && fraction.empty())) return error();
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.size() > size_t(decimals)) return error();
  int64_t value = 0;
  const auto append = [&](char digit) {
    return digit >= '0' && digit <= '9' && !__builtin_mul_overflow(value, int64_t(10), &value) &&
           !__builtin_add_overflow(value, int64_t(digit - '0'), &value);
  };
  for (char digit : whole) {
    if (!append(digit)) return error();
  }
  for (int i = 0; i < decimals; i++) {
    if (!append(i < int(fraction.size()) ? fraction[i] : '0')) return error();
  }
  return value;
}

Result<int64_t> parse_whole(std::string_view text, int64_t least, int64_t most) {
  const auto value = read<int64_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  return invalid_argument(fmt::format("{} is not a whole number from {} to {}", shown(text), least, most));
}

Result<uint64_t> parse_seed(std::string_view text) {
  const auto value = read<uint64_t>(text);
  if (value) return *value;
  return invalid_argument(fmt::format("{} is not a whole number from 0 to 2^64 - 1", shown(text)));
}

Result<float> parse_number(std::string_view text) {
  const auto value = read<float>(text);
  if (value && std::isfinite(*value)) return *value;
  return invalid_argument(fmt::format("{} is not a number", shown(text)));
}

Option Option::required() { return Option(option_->required()); }
Option Option::named(const std::string& value) { return Option(option_->type_name(value)); }
Option Option::group(const std::string& heading) { return Option(option_->group(heading)); }
Option Option::excludes(const std::string& other) { return Option(option_->excludes(other)); }

Option add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& description) {
  return Option(app.add_flag(names, value, description));
}

Option add_text(CLI::App& app, const std::string& names, std::string& value, const std::string& description) {
  return Option(app.add_option(names, value, description));
}

Option add_text(CLI::App& app, const std::string& names, std::function<void(const std::string&)> set,
                const std::string& description, const std::vector<std::string>& choices) {
  CLI::Option* option = app.add_option_function<std::string>(names, std::move(set), description);
  if (!choices.empty()) option->check(one_of(choices));
  return Option(option);
}

Option add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                     const std::string& description) {
  return Option(app.add_option(name, values, description));
}

Option add_repeated(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                    const std::string& description) {
  return Option(app.add_option(names, values, description)->allow_extra_args(false));
}

Option add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                const std::string& description) {
  return Option(app.add_option(names, values, description)->delimiter(','));
}

Option add_size(CLI::App& app, const std::string& names, int64_t& value, const std::string& description, int64_t least,
                int64_t most) {
  return add_parsed(app, names, value, description, "SIZE",
                    [=](std::string_view text) { return parse_size_between(text, least, most); });
}

Option add_sizes(CLI::App& app, const std::string& names, std::vector<int64_t>& values,
                 const std::string& description) {
  // One argument, not CLI11's lists, which would go on to swallow the file names that follow.
  return add_parsed(app, names, values, description, "SIZE,…", parse_sizes);
}

Option add_whole(CLI::App& app, const std::string& names, int32_t& value, const std::string& description, int32_t least,
                 int32_t most) {
  return add_parsed(app, names, value, description, "N", [=](std::string_view text) -> Result<int32_t> {
    SOFFIT_TRY(const int64_t whole, parse_whole(text, least, most));
    return int32_t(whole);
  });
}

Option add_whole(CLI::App& app, const std::string& names, std::optional<uint64_t>& value,
                 const std::string& description) {
  return add_parsed(app, names, value, description, "N", parse_seed);
}

Option add_number(CLI::App& app, const std::string& names, float& value, const std::string& description) {
  return add_parsed(app, names, value, description, "NUMBER", parse_number);
}

Option add_choice(CLI::App& app, const std::string& names, std::string& value, const std::vector<std::string>& choices,
                  const std::string& description) {
  return Option(app.add_option(names, value, description)->check(one_of(choices))->type_name("NAME"));
}

Option add_path(CLI::App& app, const std::string& names, std::string& value, const std::string& description) {
  return Option(app.add_option(names, value, description)->check(CLI::Validator(refuse_empty, ""))->type_name("FILE"));
}

}  // namespace soffit::tool
