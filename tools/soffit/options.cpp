#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/escape.hpp"

namespace soffit::tool {
namespace {

constexpr std::array<std::string_view, 2> kSingleDashWords = {"-ngl", "-cnv"};

// The contract's names; which of them this machine has is the backend's to say.
const std::vector<std::string> kBackends = {"cpu", "cuda", "metal", "metal-lanes"};
const std::vector<std::string> kIsas = {"auto", "scalar",       "avx2",      "avx_vnni", "avx512", "amx",
                                        "neon", "neon_dotprod", "neon_i8mm", "hopper",   "generic"};
const std::vector<std::string> kOutputs = {"text", "md", "csv", "json"};
constexpr int kMost = 1'000'000;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// CLI11's validators without the types that they add to the help.
CLI::Validator one_of(const std::vector<std::string>& names) { return CLI::IsMember(names).description(""); }
CLI::Validator in_range(int least, int most) { return CLI::Range(least, most).description(""); }

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

// A CLI11 validator gives its error's text; empty means that all is well.
template <auto parse>
std::string parse_error(const std::string& text) {
  const auto parsed = parse(text);
  return parsed ? std::string() : parsed.error().message;
}

std::string seed_error(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", escaped(text, 40));
}

// One of kOutputs.
Output parse_output(std::string_view kind) {
  return kind == "md" ? Output::md : kind == "csv" ? Output::csv : kind == "json" ? Output::json : Output::text;
}

const CLI::Validator kSeed(seed_error, "");
const CLI::Validator kSize(parse_error<parse_size>, "");
const CLI::Validator kSizes(parse_error<parse_sizes>, "");

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options) {
  const auto add = [&](const std::string& names, auto& value, const std::string& description, const char* type) {
    return app.add_option(names, value, description)->type_name(type)->group("Common options");
  };
  const auto add_flag = [&](const std::string& names, bool& value, const std::string& description) {
    app.add_flag(names, value, description)->group("Common options");
  };
  add("-m,--model", options.model, "GGUF file; any part of a split one", "FILE");
  add("-t,--threads", options.threads, "threads (default: the cores it may use)", "N")->check(in_range(1, 4096));
  add("--backend", options.backend, "one of " + joined(kBackends) + " (default: cpu)", "NAME")
      ->check(one_of(kBackends));
  add("--isa", options.isa, "instruction set, one of " + joined(kIsas) + " (default: auto)", "NAME")
      ->check(one_of(kIsas));
  add("--device", options.device, "which device of the backend (default: 0)", "N")->check(in_range(0, kMost));
  add("--ngl", options.gpu_layers, "layers on the device, also written -ngl (default: all)", "N")
      ->check(in_range(0, kMost));
  add_flag("--no-repack", options.no_repack, "use the weights as they lie in the file");
  add_flag("--exact", options.exact, "no activation rounded below fp16");
  // CLI11 would take -1 and whatever is too large for 2^64 - 1.
  add("--seed", options.seed, "seed of everything random", "S")->check(kSeed);
  add_flag("-v,--verbose", options.verbose, "say more, on stderr");
  app.add_option_function<std::string>(
         "--output", [&options](const std::string& kind) { options.output = parse_output(kind); },
         "text, md, csv or json (default: text)")
      ->type_name("KIND")
      ->group("Common options")
      ->check(one_of(kOutputs));
}

void add_common_options_with_model(CLI::App& app, CommonOptions& options) {
  add_common_options(app, options);
  app.get_option("--model")->required();
}

Result<int64_t> parse_size(std::string_view text) {
  const auto error = [&] {
    return invalid_argument(fmt::format(
        "'{}' is not a size: a whole number, or a number and K, M or G (powers of 1000)", escaped(text, 40)));
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

CLI::Option* add_size(CLI::App& app, const std::string& names, int64_t& value, const std::string& description) {
  return app
      .add_option_function<std::string>(
          names, [&value](const std::string& text) { value = *parse_size(text); }, description)
      ->check(kSize)
      ->type_name("SIZE");
}

CLI::Option* add_sizes(CLI::App& app, const std::string& names, std::vector<int64_t>& values,
                       const std::string& description) {
  // One argument, not CLI11's lists, which would go on to swallow the file names that follow.
  return app
      .add_option_function<std::string>(
          names, [&values](const std::string& text) { values = *parse_sizes(text); }, description)
      ->check(kSizes)
      ->type_name("SIZE,…");
}

std::vector<std::string> normalised_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  bool options_ended = false;
  for (int i = 1; i < argc; i++) {
    std::string argument = argv[i];
    options_ended = options_ended || argument == "--";
    const std::string_view word = std::string_view(argument).substr(0, argument.find('='));
    if (!options_ended && std::ranges::find(kSingleDashWords, word) != kSingleDashWords.end()) argument.insert(0, "-");
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace soffit::tool
