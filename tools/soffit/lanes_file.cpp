// soffit lanes FILE.metal: a kernel of the user's own, compiled, run, checked and counted.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "command.hpp"
#include "console.hpp"
#include "kernel_arguments.hpp"
#include "lanes.hpp"

namespace soffit::tool {
namespace {

namespace fs = std::filesystem;

Result<Json> json_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{Code::io, fmt::format("{}: cannot be read", path)};
  Json json = Json::parse(in, nullptr, false, true);
  if (json.is_discarded()) return invalid_argument(fmt::format("{}: not well-formed JSON", path));
  return json;
}

std::string kernel_names(const lanes::Library& library) {
  std::string names;
  for (uint32_t k = 0; k < library.kernel_count; ++k)
    names += fmt::format("{}{}", k ? ", " : "", library.kernels[k].name);
  return names.empty() ? "none" : names;
}

Result<const lanes::Kernel*> kernel_of(const lanes::Library& library, const std::string& entry) {
  if (entry.empty() && library.kernel_count == 1) return library.kernels;
  if (const lanes::Kernel* kernel = find_kernel(library, entry)) return kernel;
  return unsupported(entry.empty()
                         ? fmt::format("--entry is to name a kernel; there are {}", kernel_names(library))
                         : fmt::format("no kernel '{}'; there are {}", printable(entry), kernel_names(library)));
}

// The results against what is expected of them. True, false, or null when nothing is expected.
Result<Json> check_results(const KernelArguments& arguments, const fs::path& directory) {
  Json checked;
  for (const auto& [index, buffer] : arguments.buffers) {
    if (!buffer.expect.empty()) {
      SOFFIT_TRY(const Comparison comparison, compared(buffer, index, directory));
      if (!comparison.difference.empty()) warn(comparison.difference);
      checked = comparison.difference.empty() && (checked.is_null() || checked.get<bool>());
    }
    if (!buffer.save.empty()) SOFFIT_CHECK(saved(buffer, directory));
  }
  return checked;
}

// The buffer of blocks, if there is one.
Result<MatrixShape> traced_matrix(const KernelArguments& arguments) {
  MatrixShape shape;
  for (const auto& [index, buffer] : arguments.buffers) {
    if (!buffer.format || arguments.launch.buffers.at(index).role != lanes::Role::weights) continue;
    shape.format = buffer.format;
    shape.cols = arguments.cols;
    if (shape.cols) {
      SOFFIT_TRY(const int64_t row, row_bytes(*buffer.format, int64_t(shape.cols)));
      shape.row_bytes = uint64_t(row);
    }
  }
  return shape;
}

Result<Json> run(const LanesOptions& options) {
  Json json = Json::object();
  if (!options.arguments.empty()) {
    SOFFIT_TRY(json, json_of_file(options.arguments));
  }
  const fs::path directory = fs::path(options.arguments).parent_path();
  SOFFIT_TRY(const auto templates, template_arguments(json));
  std::vector<lanes::Instantiation> instantiations;
  if (!templates.empty()) instantiations.push_back({options.entry, templates});
  SOFFIT_TRY(const auto library, lanes::compile(options.what, lanes::Mode::checked, instantiations));
  for (const std::string& remark : library.remarks()) warn(printable(remark));
  SOFFIT_TRY(const lanes::Kernel* kernel, kernel_of(*library, options.entry));

  const uint64_t seed = options.common.seed.value_or(1);
  SOFFIT_TRY(KernelArguments arguments, kernel_arguments(json, *kernel, directory, seed));
  arguments.launch.seed = seed;
  SOFFIT_TRY(const auto outcome, lanes::run(*library, *kernel, arguments.launch, {.loads = !options.trace.empty()}));
  SOFFIT_TRY(const MatrixShape shape, traced_matrix(arguments));
  SOFFIT_CHECK(write_trace(options, kernel->name, fs::path(options.what).filename().string(), shape, outcome));
  SOFFIT_TRY(Json checked, check_results(arguments, directory));
  if (outcome.fault_count > 0) checked = false;

  double memory_bytes = 0;
  for (const auto& [index, buffer] : arguments.launch.buffers) memory_bytes += double(buffer.bytes);
  const uint64_t weights = arguments.weights ? arguments.weights : 1;
  if (!arguments.weights) warn("no 'weights' in the arguments: figures for each weight are those of the whole launch");
  Json row = {{"kernel", kernel->name}, {"variant", nullptr}, {"format", nullptr},
              {"rows", nullptr},        {"cols", nullptr},    {"n", nullptr}};
  add_figures(row, metal::figures(outcome.counts, weights), weights, 1, memory_bytes);
  row["weights"] = arguments.weights ? Json(arguments.weights) : Json();
  row["checked"] = checked;
  add_faults(row, outcome.faults, outcome.fault_count);
  return row;
}

}  // namespace

int run_kernel_file(const LanesOptions& options) {
  const auto row = run(options);
  if (!row) return fail(row.error());
  print_lanes(options.common.output, {*row});
  return (*row)["checked"] == false ? kFailed : kDone;
}

}  // namespace soffit::tool
