// soffit quantize: the matrices of a file in another format.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

#include "command.hpp"
#include "console.hpp"
#include "convert/quantise.hpp"
#include "core/topology.hpp"
#include "interrupt.hpp"
#include "open_file.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace soffit::tool {
namespace {

struct Options {
  CommonOptions common;
  std::string in, out, format;
  std::vector<std::string> overrides;  // PATTERN=FORMAT
};

Result<Format> parse_format(std::string_view name) {
  const FormatInfo* format = find_format(name);
  if (format && format->supported) return Format(format->id);
  std::string names;
  for (const FormatInfo& f : all_formats()) {
    if (f.supported) names += fmt::format("{}{}", names.empty() ? "" : ", ", f.name);
  }
  return unsupported(fmt::format("{} '{}'; there are {}", format ? "nothing here encodes format" : "there is no format",
                                 printable(name), names));
}

Result<convert::Override> parse_override(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) {
    return invalid_argument(fmt::format("--tensor takes PATTERN=FORMAT, not '{}'", printable(text)));
  }
  SOFFIT_TRY(const Format format, parse_format(text.substr(equals + 1)));
  return convert::Override{std::string(text.substr(0, equals)), format};
}

Result<convert::QuantiseOptions> parse(const Options& options) {
  convert::QuantiseOptions parsed;
  SOFFIT_TRY(parsed.format, parse_format(options.format));
  for (const std::string& text : options.overrides) {
    SOFFIT_TRY(convert::Override override, parse_override(text));
    parsed.overrides.push_back(std::move(override));
  }
  parsed.threads = options.common.threads > 0 ? options.common.threads : default_threads();
  return parsed;
}

// Rows that do not fit the wanted format, one line for all tensors alike.
void warn_of_substitutes(std::span<const convert::QuantisedTensor> tensors) {
  using Kind = std::tuple<int64_t, Format, std::string_view>;  // columns, wanted, instead
  std::vector<std::pair<Kind, std::vector<const convert::QuantisedTensor*>>> kinds;
  for (const convert::QuantisedTensor& tensor : tensors) {
    if (!tensor.to.wanted) continue;
    const Kind kind{tensor.shape[0], *tensor.to.wanted, tensor.to.format->name};
    auto found = std::ranges::find(kinds, kind, &decltype(kinds)::value_type::first);
    if (found == kinds.end()) found = kinds.insert(found, {kind, {}});
    found->second.push_back(&tensor);
  }
  for (const auto& [kind, alike] : kinds) {
    const auto& [columns, wanted, instead] = kind;
    warn(fmt::format("{} tensor{} ({}{}) in {} instead of {}: {} columns are no multiple of {}", alike.size(),
                     alike.size() == 1 ? "" : "s", printable(alike[0]->name), alike.size() == 1 ? "" : ", …", instead,
                     info(wanted).name, columns, info(wanted).block_elements));
  }
}

Json row_of(const convert::QuantisedTensor& tensor) {
  Json row = {{"name", tensor.name},
              {"from", tensor.from->name},
              {"to", tensor.to.format->name},
              {"rmse", tensor.rmse},
              {"relative_rmse", tensor.rms > 0 ? tensor.rmse / tensor.rms : 0.0},
              {"shape", tensor.shape},
              {"bytes", tensor.bytes}};
  if (tensor.to.wanted) row["wanted"] = info(*tensor.to.wanted).name;
  return row;
}

void report(Output output, std::span<const convert::QuantisedTensor> tensors) {
  std::vector<Json> rows;
  for (const auto& tensor : tensors) rows.push_back(row_of(tensor));
  if (output == Output::json) return print_json({{"tensors", rows}});
  const auto scientific = [](const Json& value) {
    return value.get<double>() == 0 ? std::string("0") : fmt::format("{:.3e}", value.get<double>());
  };
  const std::array<Column, 5> columns = {Column{"name", "tensor", {}}, Column{"from", "from", {}},
                                         Column{"to", "to", {}}, Column{"rmse", "rmse", scientific},
                                         Column{"relative_rmse", "relative", scientific}};
  print_rows(output, columns, rows);
}

int quantise(const Options& options) {
  auto parsed = parse(options);
  if (!parsed) return fail(parsed.error());
  const auto file = open_file(options.in);
  if (!file) return fail(file.error());
  const InterruptGuard guard;
  const auto tensors = [&] {
    ProgressLine line(fmt::format("writing {}", printable(options.out)));
    parsed->progress = [&](uint64_t done, uint64_t total) {
      line.update(done, total);
      return !guard.interrupted();
    };
    return convert::quantise(**file, options.out, *parsed);
  }();
  if (!tensors) return fail(tensors.error());
  warn_of_substitutes(*tensors);
  report(options.common.output, *tensors);
  return kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_path(app, "IN", options->in, "GGUF file; any part of a split one").required();
  add_path(app, "OUT", options->out, "the file to write; may be IN").required();
  add_text(app, "FORMAT", options->format, "the new format of all matrices, such as q4_k; f16, bf16 or f32 dequantise")
      .required()
      .named("FORMAT");
  add_repeated(app, "--tensor", options->overrides,
               "another format for tensors whose names match (*, ?, […]); the last match counts")
      .named("PATTERN=FORMAT");
  add_common_options(app, options->common);
  return [options] { return quantise(*options); };
}

}  // namespace

extern const Command kQuantize;
const Command kQuantize = {"quantize", "Write a file's matrices in another format",
                           "  soffit quantize model-f16.gguf model-q4_k.gguf q4_k\n"
                           "  soffit quantize model.gguf mixed.gguf q4_k --tensor 'token_embd.weight=q6_k' "
                           "--tensor 'blk.*.ffn_down.weight=q5_k'\n"
                           "  soffit quantize model-q4_1.gguf model-f16.gguf f16",
                           declare};

}  // namespace soffit::tool
