#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "soffit/backend.hpp"

namespace soffit::tool {
namespace {

constexpr std::array<std::string_view, 2> kSingleDashWords = {"-ngl", "-cnv"};

// The contract's names; which of them this machine has is the backend's to say.
const std::vector<std::string> kIsas = {"auto",         "scalar",    "avx2",   "avx_vnni", "avx512",  "amx",  "neon",
                                        "neon_dotprod", "neon_i8mm", "hopper", "generic",  "checked", "plain"};
const std::vector<std::string> kOutputs = {"text", "md", "csv", "json"};
constexpr int kMost = 1'000'000;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// One of kOutputs.
Output parse_output(std::string_view kind) {
  return kind == "md" ? Output::md : kind == "csv" ? Output::csv : kind == "json" ? Output::json : Output::text;
}

}  // namespace

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"cpu", "cuda", "metal", "metal-lanes"};
    for (const BackendEntry& entry : backends()) {
      if (std::ranges::find(names, entry.name) == names.end()) names.emplace_back(entry.name);
    }
    return names;
  }();
  return kNames;
}

void add_common_options(CLI::App& app, CommonOptions& options) {
  const auto common = [](Option option) { option.group("Common options"); };
  common(add_path(app, "-m,--model", options.model, "GGUF file; any part of a split one"));
  common(add_whole(app, "-t,--threads", options.threads, "threads (default: the cores it may use)", 1, 4096));
  common(add_choice(app, "--backend", options.backend, backend_names(),
                    "one of " + joined(backend_names()) + " (default: cpu)"));
  common(add_choice(app, "--isa", options.isa, kIsas, "instruction set, one of " + joined(kIsas) + " (default: auto)"));
  common(add_whole(app, "--device", options.device, "which device of the backend (default: 0)", 0, kMost));
  common(
      add_whole(app, "--ngl", options.gpu_layers, "layers on the device, also written -ngl (default: all)", 0, kMost));
  common(add_flag(app, "--no-repack", options.no_repack, "use the weights as they lie in the file"));
  common(add_flag(app, "--exact", options.exact, "no activation rounded below fp16"));
  common(add_whole(app, "--seed", options.seed, "seed of everything random"));
  common(add_flag(app, "-v,--verbose", options.verbose, "say more, on stderr"));
  const auto set_output = [&options](const std::string& kind) { options.output = parse_output(kind); };
  common(add_text(app, "--output", set_output, "text, md, csv or json (default: text)", kOutputs).named("KIND"));
}

void add_common_options_with_model(CLI::App& app, CommonOptions& options) {
  add_common_options(app, options);
  app.get_option("--model")->required();
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
