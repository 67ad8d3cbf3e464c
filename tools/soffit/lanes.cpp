// soffit lanes: what Metal kernels do, lane by lane, on a machine without Metal.
#include "lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "check/blocks.hpp"
#include "check/random.hpp"
#include "command.hpp"
#include "console.hpp"
#include "metal/figures.hpp"
#include "metal/lane_dequantize.hpp"
#include "metal/linear_problem.hpp"
#include "metal/variants.hpp"

namespace soffit::tool {

void add_figures(Json& row, const metal::Figures& f, uint64_t weights, uint64_t n, double memory_bytes) {
  const double operations = 2.0 * double(weights) * double(n), issued = double(f.weight_bytes + f.activation_bytes);
  row["slots_useful"] = f.slots_useful;
  row["slots_issued"] = f.slots_issued;
  row["lane_use"] = f.lane_use;
  row["int_slots_per_weight"] = f.integer;
  row["fma_slots_per_weight"] = f.floating;
  row["conversion_slots_per_weight"] = f.conversion;
  row["floor_slots_per_weight"] = f.floor;
  row["special_slots_per_weight"] = f.special;
  row["inner_slots_per_weight"] = f.inner;
  row["index_slots_per_weight"] = f.index;
  row["slots_per_weight"] = f.total;
  row["weight_bytes"] = f.weight_bytes;
  row["activation_bytes"] = f.activation_bytes;
  row["segments_32"] = f.segments[0];
  row["segments_64"] = f.segments[1];
  row["segments_128"] = f.segments[2];
  row["intensity_issued"] = issued > 0 && n > 0 ? Json(operations / issued) : Json();
  row["intensity_memory"] = memory_bytes > 0 && n > 0 ? Json(operations / memory_bytes) : Json();
  row["ridge_intensity"] = Json::object();
  for (const metal::Chip& chip : metal::chips()) row["ridge_intensity"][std::string(chip.name)] = metal::ridge(chip);
  row["estimate_seconds"] = Json::object();
  for (const metal::Chip& chip : metal::chips()) {
    row["estimate_seconds"][std::string(chip.name)] =
        metal::estimated_seconds(chip, f.total * double(weights), memory_bytes);
  }
}

void add_faults(Json& row, const std::vector<lanes::Fault>& faults, uint64_t total) {
  row["fault_count"] = total;
  row["faults"] = Json::array();
  for (const lanes::Fault& f : faults) {
    row["faults"].push_back({{"kind", to_string(f.kind)},
                             {"file", f.file},
                             {"line", f.line},
                             {"column", f.column},
                             {"threadgroup", {f.threadgroup.x, f.threadgroup.y, f.threadgroup.z}},
                             {"simdgroup", f.simdgroup},
                             {"lane", f.lane},
                             {"what", f.what},
                             {"times", f.times}});
    warn(to_text(f));
  }
}

namespace {

std::string show_yes(const Json& value) { return value.is_null() ? "-" : value.get<bool>() ? "yes" : "NO"; }

const std::vector<Column> kColumns = {
    {"kernel", "kernel", {}},
    {"simdgroups", "simdgroups", {}},
    {"rows_per_simdgroup", "rows", {}},
    {"lane_use", "lanes used", show_fixed(3)},
    {"int_slots_per_weight", "int", show_fixed(3)},
    {"fma_slots_per_weight", "fma", show_fixed(3)},
    {"conversion_slots_per_weight", "convert", show_fixed(3)},
    {"floor_slots_per_weight", "floor", show_fixed(3)},
    {"inner_slots_per_weight", "inner", show_fixed(3)},
    {"slots_per_weight", "slots", show_fixed(3)},
    {"index_slots_per_weight", "index", show_fixed(2)},
    {"segments_32", "seg 32", show_fixed(1)},
    {"segments_64", "64", show_fixed(1)},
    {"segments_128", "128", show_fixed(1)},
    {"weight_bytes", "weight B", {}},
    {"activation_bytes", "activation B", {}},
    {"intensity_issued", "flop/B issued", show_fixed(2)},
    {"intensity_memory", "memory", show_fixed(2)},
    {"checked", "right", show_yes},
};

// "a,b" as its parts; nothing of an empty text.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return text;
}

bool asked_for(const std::vector<std::string>& wanted, std::string_view name) {
  return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
}

}  // namespace

Result<std::vector<const metal::Variant*>> chosen_variants(const LanesOptions& options) {
  std::vector<const metal::Variant*> chosen;
  std::vector<std::string> names, formats;  // that there are
  const auto add = [](std::vector<std::string>& list, std::string_view name) {
    if (std::ranges::find(list, name) == list.end()) list.emplace_back(name);
  };
  auto wanted_names = parts_of(options.variants), wanted_formats = parts_of(options.formats);
  if (options.formats == "all") wanted_formats.clear();
  for (const metal::Variant& v : metal::variants()) {
    if (to_string(v.operation) != options.what) continue;
    const std::string_view format = info(v.format).name;
    add(formats, format);
    if (!asked_for(wanted_formats, format)) continue;
    add(names, v.name);
    if (asked_for(wanted_names, v.name)) chosen.push_back(&v);
  }
  for (const std::string& format : wanted_formats) {
    if (std::ranges::find(formats, format) == formats.end()) {
      return unsupported(fmt::format("no {} kernels for format '{}' on the lanes; there are {}", options.what,
                                     printable(format), joined(formats)));
    }
  }
  for (const std::string& name : wanted_names) {
    if (std::ranges::find(names, name) == names.end()) {
      return unsupported(fmt::format("no variant '{}'; there are {}", printable(name), joined(names)));
    }
  }
  if (chosen.empty()) return unsupported(fmt::format("no kernels for {} on the lanes yet", options.what));
  return chosen;
}

namespace {

// A chip a line, a kernel a column.
void print_estimates(Output output, const std::vector<Json>& rows) {
  std::vector<Column> columns = {{"chip", "chip", {}}, {"ridge", "ridge flop/B", show_fixed(1)}};
  for (size_t r = 0; r < rows.size(); ++r)
    columns.push_back({std::to_string(r), rows[r]["kernel"].get<std::string>(), show_fixed(2)});
  std::vector<Json> chips;
  for (const metal::Chip& chip : metal::chips()) {
    Json line = {{"chip", chip.name}, {"ridge", metal::ridge(chip)}};
    for (size_t r = 0; r < rows.size(); ++r) {
      line[std::to_string(r)] = rows[r]["estimate_seconds"][std::string(chip.name)].get<double>() * 1e6;
    }
    chips.push_back(std::move(line));
  }
  print(
      "\nEstimated µs, not measured: the longer of issuing the slots at the chip's fp32 rate and reading the operands "
      "once "
      "at\nits bandwidth, both as published (of M5 no fp32 rate is: M4's). Ridge: where the two meet.\n");
  print_rows(output, columns, chips);
}

}  // namespace

void print_lanes(Output output, const std::vector<Json>& rows) {
  print_rows(output, kColumns, rows);
  // More columns than a page has are for JSON.
  constexpr size_t kMostKernels = 6;
  if ((output == Output::text || output == Output::md) && !rows.empty() && rows.size() <= kMostKernels)
    print_estimates(output, rows);
}

namespace {

// Blocks to floats: every bit as the reference has it.
int run_dequantize_kernels(const LanesOptions& options) {
  const auto wanted_names = parts_of(options.variants);
  const auto wanted_formats = parts_of(options.formats == "all" ? "" : options.formats);
  const uint64_t seed = options.common.seed.value_or(1);
  std::vector<Json> rows;
  std::vector<std::string> names, kernels;
  std::vector<const metal::DequantizeVariant*> chosen;
  bool faulty = false;
  for (const metal::DequantizeVariant& v : metal::dequantize_variants()) {
    names.push_back(fmt::format("{} of {}", v.name, info(v.format).name));
    if (!asked_for(wanted_names, v.name) || !asked_for(wanted_formats, info(v.format).name)) continue;
    chosen.push_back(&v);
    kernels.emplace_back(v.kernel);
  }
  if (chosen.empty()) return fail(unsupported(fmt::format("no such dequantize kernel; there are {}", joined(names))));
  if (const std::string fault = trace_fault(options, kernels); !fault.empty()) return usage_error(fault);
  for (const metal::DequantizeVariant* variant : chosen) {
    const metal::DequantizeVariant& v = *variant;
    const FormatInfo& format = info(v.format);
    const auto row_size = row_bytes(v.format, options.cols);
    if (!row_size) return fail(row_size.error());
    std::vector<std::byte> bytes(size_t(options.rows) * size_t(*row_size));
    checker::Random random(seed);
    checker::fill_blocks(v.format, checker::Blocks::any_bytes, random, bytes);
    const auto result = run_dequantize(v, bytes, {.seed = seed, .trace_loads = !options.trace.empty()});
    if (!result) return fail(result.error());
    const auto about = fmt::format("{}, {} × {}", format.name, options.rows, options.cols);
    const MatrixShape shape{v.format, uint64_t(*row_size), uint64_t(options.cols), 0};
    if (const Status s = write_trace(options, v.kernel, about, shape, result->outcome); !s) return fail(s.error());
    std::vector<float> expected(result->values.size());
    format.decode(bytes.data(), expected.data(), bytes.size() / format.block_bytes);
    const bool same = std::memcmp(expected.data(), result->values.data(), expected.size() * sizeof(float)) == 0;
    const bool right = same && result->outcome.fault_count == 0;
    faulty |= !right;
    if (!same) warn(fmt::format("{}: not the reference's bits", v.kernel));
    Json row = {{"kernel", v.kernel},   {"variant", v.name}, {"format", format.name}, {"rows", options.rows},
                {"cols", options.cols}, {"n", nullptr},      {"simdgroups", nullptr}, {"rows_per_simdgroup", nullptr}};
    const auto memory_bytes = double(bytes.size() + expected.size() * sizeof(float));
    add_figures(row, metal::figures(result->outcome.counts, expected.size()), expected.size(), 0, memory_bytes);
    row["checked"] = right;
    add_faults(row, result->outcome.faults, result->outcome.fault_count);
    rows.push_back(std::move(row));
  }
  print_lanes(options.common.output, rows);
  return faulty ? kFailed : kDone;
}

}  // namespace

int run_own_kernels(const LanesOptions& options) {
  if (options.what == "dequantize") return run_dequantize_kernels(options);
  if (options.what != "linear") return run_id_kernels(options);
  const auto variants = chosen_variants(options);
  if (!variants) return fail(variants.error());
  const metal::LinearShape shape{
      .rows = uint64_t(options.rows), .cols = uint64_t(options.cols), .n = uint64_t(options.n)};
  const DataType type = options.activations == "f32" ? DataType::f32 : DataType::f16;
  const uint64_t weights = shape.rows * shape.cols, seed = options.common.seed.value_or(1);
  std::vector<std::string> kernels;
  for (const metal::Variant* v : *variants)
    kernels.insert(kernels.end(), options.sweep ? v->tunings.size() : 1, std::string(v->kernel));
  if (const std::string fault = trace_fault(options, kernels); !fault.empty()) return usage_error(fault);
  std::vector<Json> rows;
  bool faulty = false;
  for (const metal::Variant* v : *variants) {
    const auto tunings = options.sweep ? v->tunings : std::span(&v->tuning, 1);
    for (const metal::Tuning& tuning : tunings) {
      auto problem = metal::LinearProblem::random(v->format, shape, type, seed);
      if (!problem) return fail(problem.error());
      const auto outcome = run_linear(*v, tuning, shape, type, problem->buffers(),
                                      {.seed = seed, .trace_loads = !options.trace.empty()});
      if (!outcome) return fail(outcome.error());
      const auto about =
          fmt::format("{} × {} by {}, {}, {}", shape.rows, shape.cols, shape.n, info(v->format).name, to_string(type));
      const MatrixShape matrix{v->format, uint64_t(*row_bytes(v->format, options.cols)), shape.cols,
                               uint32_t(size_of(type))};
      if (const Status s = write_trace(options, v->kernel, about, matrix, *outcome); !s) return fail(s.error());
      const auto worst = problem->worst_result(v->terms);
      const bool right = worst.right() && outcome->fault_count == 0;
      faulty |= !right;
      const auto& buffers = problem->buffers();
      const auto memory_bytes = double(buffers.weights.bytes() + buffers.x.bytes() + buffers.y.bytes());
      Json row = {{"kernel", v->kernel},
                  {"variant", v->name},
                  {"format", info(v->format).name},
                  {"rows", shape.rows},
                  {"cols", shape.cols},
                  {"n", shape.n},
                  {"activations", to_string(type)},
                  {"simdgroups", tuning.simdgroups},
                  {"rows_per_simdgroup", tuning.rows}};
      add_figures(row, metal::figures(outcome->counts, weights), weights, shape.n, memory_bytes);
      row["error_over_bound"] = worst.error_over_bound;
      row["nmse"] = worst.nmse;
      row["checked"] = right;
      add_faults(row, outcome->faults, outcome->fault_count);
      if (!worst.right()) {
        warn(fmt::format("{}: row {}, vector {} is {}, not {}: error / bound = {}", v->kernel, worst.row, worst.vector,
                         worst.result, worst.exact, worst.error_over_bound));
      }
      rows.push_back(std::move(row));
    }
  }
  print_lanes(options.common.output, rows);
  return faulty ? kFailed : kDone;
}

namespace {

int lanes(const LanesOptions& options) {
  static const std::vector<std::string> kOperations = {"linear", "linear_id", "get_rows", "dequantize"};
  const bool file = options.what.ends_with(".metal") || std::filesystem::exists(options.what);
  if (!file && std::ranges::find(kOperations, options.what) == kOperations.end()) {
    return usage_error(fmt::format("'{}' is neither an operation ({}) nor a .metal file", printable(options.what),
                                   joined(kOperations)));
  }
  if (file) return run_kernel_file(options);
  if (!options.entry.empty() || !options.arguments.empty())
    return usage_error("--entry and --args are for a .metal file");
  return run_own_kernels(options);
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<LanesOptions>();
  add_common_options(app, options->common);
  add_text(app, "what", options->what, "linear, linear_id, get_rows or dequantize; or a .metal file")
      .required()
      .named("OPERATION|FILE");
  add_text(app, "--variant", options->variants, "variants of the kernels (default: all)").named("VARIANT,…");
  add_text(app, "--format", options->formats, "formats, or all (default: all that have kernels)").named("FORMAT,…");
  add_size(app, "--rows", options->rows, "rows of the matrix (default: 64)");
  add_size(app, "--cols", options->cols, "columns of the matrix (default: 4096)");
  add_size(app, "--n", options->n, "columns of activations (default: 1)");
  add_choice(app, "--activations", options->activations, {"f32", "f16"},
             "type of activations and results: f32 or f16 (default: f16)")
      .named("TYPE");
  add_flag(app, "--sweep", options->sweep, "every number of simdgroups and rows that the kernel can be tuned to");
  add_path(app, "--trace", options->trace, "a picture of who reads what in a step: the lane map of one kernel")
      .named("FILE.svg");
  add_text(app, "--entry", options->entry, "the kernel of the file").named("NAME");
  add_path(app, "--args", options->arguments, "its grid, buffers and constants; see docs/metal-kernels.md")
      .named("FILE.json");
  return [options] { return lanes(*options); };
}

}  // namespace

extern const Command kLanes;
const Command kLanes = {"lanes", "what Metal kernels do, lane by lane: checked and counted, without Metal",
                        "  soffit lanes linear --format q4_k,tq1_0\n"
                        "  soffit lanes linear --format q4_k --variant seed --sweep --output md\n"
                        "  soffit lanes linear --format q4_k --variant seed --trace lanes.svg\n"
                        "  soffit lanes dequantize --format tq1_0\n"
                        "  soffit lanes kernel.metal --entry decode --args arguments.json",
                        declare};

}  // namespace soffit::tool
