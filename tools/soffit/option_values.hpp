// How values are written on the command line. Every option of a number, a name out of a list or a path is declared
// here, so that all refuse the same things with the same words: CLI11 alone takes an empty text for 0 and numbers that
// do not fit for others.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::tool {

// "4096", "512K", "1.5M", "2G": K, M and G are powers of 1000, in either case. The value must be a whole number.
Result<int64_t> parse_size(std::string_view text);
// Digits, with a '-' before them where `least` is below 0.
Result<int64_t> parse_whole(std::string_view text, int64_t least, int64_t most);
Result<uint64_t> parse_seed(std::string_view text);
// Finite, in decimals: "0.8", "-1", "1e-3".
Result<float> parse_number(std::string_view text);

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// An option whose value is a size; a list takes several, separated by commas ("1,512,4K").
CLI::Option* add_size(CLI::App& app, const std::string& names, int64_t& value, const std::string& description,
                      int64_t least = 0, int64_t most = kNoLimit);
CLI::Option* add_sizes(CLI::App& app, const std::string& names, std::vector<int64_t>& values,
                       const std::string& description);
CLI::Option* add_whole(CLI::App& app, const std::string& names, int32_t& value, const std::string& description,
                       int32_t least, int32_t most);
CLI::Option* add_whole(CLI::App& app, const std::string& names, std::optional<uint64_t>& value,
                       const std::string& description);
CLI::Option* add_number(CLI::App& app, const std::string& names, float& value, const std::string& description);
CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description);
// An empty path is refused: where it would mean "not given", a script with an unset variable would do something else.
CLI::Option* add_path(CLI::App& app, const std::string& names, std::string& value, const std::string& description);

// What add_choice and add_path check, for options that do something of their own with the text.
CLI::Validator one_of(std::vector<std::string> names);
CLI::Validator not_empty();

}  // namespace soffit::tool
