// Options, and how their values are written on the command line. All are declared by these functions, so that all
// refuse the same things with the same words: CLI11 alone takes an empty text for 0 and numbers that do not fit for
// others. Commands need no header of CLI11 so, which takes seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace soffit::tool {

// "4096", "512K", "1.5M", "2G": K, M and G are powers of 1000, in either case. The value must be a whole number.
Result<int64_t> parse_size(std::string_view text);
// Digits, with a '-' before them where `least` is below 0.
Result<int64_t> parse_whole(std::string_view text, int64_t least, int64_t most);
Result<uint64_t> parse_seed(std::string_view text);
// Finite, in decimals: "0.8", "-1", "1e-3".
Result<float> parse_number(std::string_view text);

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// An option that was declared, to say more about it. It belongs to the command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option required();
  Option named(const std::string& value);  // what --help calls its value
  Option group(const std::string& heading);
  Option excludes(const std::string& other);

 private:
  CLI::Option* option_;
};

Option add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& description);
// Any text; `set` may do something of its own with it, and `choices` are the texts there are, when any are given.
Option add_text(CLI::App& app, const std::string& names, std::string& value, const std::string& description);
Option add_text(CLI::App& app, const std::string& names, std::function<void(const std::string&)> set,
                const std::string& description, const std::vector<std::string>& choices = {});
// Several texts: the arguments that belong to no option; one from each time that the option is given; or one value that
// commas divide.
Option add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                     const std::string& description);
Option add_repeated(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                    const std::string& description);
Option add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                const std::string& description);
// A size; sizes are several, separated by commas ("1,512,4K").
Option add_size(CLI::App& app, const std::string& names, int64_t& value, const std::string& description,
                int64_t least = 0, int64_t most = kNoLimit);
Option add_sizes(CLI::App& app, const std::string& names, std::vector<int64_t>& values, const std::string& description);
Option add_whole(CLI::App& app, const std::string& names, int32_t& value, const std::string& description, int32_t least,
                 int32_t most);
Option add_whole(CLI::App& app, const std::string& names, std::optional<uint64_t>& value,
                 const std::string& description);
Option add_number(CLI::App& app, const std::string& names, float& value, const std::string& description);
Option add_choice(CLI::App& app, const std::string& names, std::string& value, const std::vector<std::string>& choices,
                  const std::string& description);
// An empty path is refused: where it would mean "not given", a script with an unset variable would do something else.
Option add_path(CLI::App& app, const std::string& names, std::string& value, const std::string& description);

}  // namespace soffit::tool
