// soffit roofline: the ceilings of the machine, and where its kernels are below them.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "command.hpp"
#include "console.hpp"
#include "format_list.hpp"
#include "interrupt.hpp"
#include "machine.hpp"
#include "measure/kernel_bench.hpp"
#include "measure/machine_ceilings.hpp"
#include "model_setup.hpp"
#include "options.hpp"
#include "provenance.hpp"
#include "roofline_chart.hpp"

namespace soffit::tool {
namespace {

struct RooflineOptions {
  CommonOptions common;
  std::string file, from, formats = "all";
  int64_t rows = 4096, cols = 4096, rotate = 300'000'000, repeat = 6;
  std::vector<int64_t> n = {1, 512};
};

constexpr double kCeilingSeconds = 0.5;

Json json_of(const measure::ReadCeiling& c) {
  return {{"level", c.level},   {"threads", c.threads}, {"bytes", c.bytes}, {"gb_per_second", c.gb_per_second},
          {"reader", c.reader}, {"noisy", c.noisy}};
}
Json json_of(const measure::ArithmeticCeiling& c) {
  return {{"name", c.name}, {"instruction", c.instruction}, {"threads", c.threads}, {"gflops", c.gflops}};
}

Result<Json> measured_ceilings(const RooflineOptions& options, Backend& backend) {
  SOFFIT_TRY(const Machine machine, read_machine());
  Json read = Json::array(), arithmetic = Json::array();
  const auto add = [&](Backend& with) -> Status {
    const auto sets = measure::working_sets(machine.caches, with.threads(), measure::memory_state().available);
    SOFFIT_TRY(const auto reads, measure::read_ceilings(with, sets, kCeilingSeconds));
    for (const auto& ceiling : reads) read.push_back(json_of(ceiling));
    SOFFIT_TRY(const auto peaks, measure::arithmetic_ceilings(with, kCeilingSeconds));
    for (const auto& ceiling : peaks) arithmetic.push_back(json_of(ceiling));
    return {};
  };
  if (backend.threads() > 1) {
    CommonOptions one = options.common;
    one.threads = 1;
    SOFFIT_TRY(const auto single, make_backend(one));
    SOFFIT_CHECK(add(*single));
  }
  SOFFIT_CHECK(add(backend));
  return Json{{"read", read}, {"arithmetic", arithmetic}};
}

Result<Json> measured_kernel(const RooflineOptions& options, Backend& backend, measure::Roof& roof,
                             const measure::RotatingWeights& weights, int64_t n, const InterruptGuard& guard) {
  const measure::KernelCase kernel_case{
      .operation = OperationKind::linear, .matrix = weights.matrix(), .n = n, .used = 1, .activations = DataType::f32};
  const auto arithmetic = measure::arithmetic_of(weights.matrix().format, options.common.exact);
  SOFFIT_TRY(const auto f, measure::measure_kernel(backend, roof, weights, kernel_case, arithmetic,
                                                   {.samples = int(options.repeat),
                                                    .seed = options.common.seed.value_or(1),
                                                    .progress = [&](double) { return !guard.interrupted(); }}));
  return Json{{"op", "linear"},
              {"format", info(weights.matrix().format).name},
              {"kernel", f.kernel},
              {"rows", options.rows},
              {"cols", options.cols},
              {"n", n},
              {"seconds", f.seconds},
              {"intensity", f.intensity},
              {"gflops", f.gflops},
              {"gb_per_second", f.gb_per_second},
              {"bound", f.memory_bound ? "memory" : "compute"},
              {"bound_by", f.memory_bound ? "reading weights" : f.instruction},
              {"roof_fraction", f.roof_fraction},
              {"noisy", f.noisy},
              {"checked", f.checked}};
}

Result<Json> measured_report(const RooflineOptions& options, const InterruptGuard& guard) {
  SOFFIT_TRY(const auto formats, parse_formats(options.formats));
  SOFFIT_TRY(const auto backend, make_backend(options.common));
  SOFFIT_TRY(const auto roof, measure::Roof::create(*backend));
  note("ceilings");
  SOFFIT_TRY(const Json ceilings, measured_ceilings(options, *backend));
  Json kernels = Json::array();
  for (const Format format : formats) {
    if (guard.interrupted()) return Error{Code::cancelled, "interrupted"};
    note(fmt::format("kernels of {}", info(format).name));
    const MatrixDescription matrix{format, options.rows, options.cols, 1};
    SOFFIT_TRY(const uint64_t bytes, matrix_bytes(matrix));
    SOFFIT_TRY(const auto rotation,
               measure::plan_rotation(uint64_t(options.rotate), bytes, measure::memory_state().available));
    if (!rotation.shortfall.empty()) warn(rotation.shortfall);
    SOFFIT_TRY(const auto weights, measure::RotatingWeights::create(
                                       *backend, matrix, options.common.no_repack ? Layout::file : Layout::automatic,
                                       rotation, options.common.seed.value_or(1), {}));
    for (const int64_t n : options.n) {
      SOFFIT_TRY(Json kernel, measured_kernel(options, *backend, *roof, weights, n, guard));
      kernels.push_back(std::move(kernel));
    }
  }
  return Json{{"machine",
               {{"name", measure::cpu_name()},
                {"backend", backend->name()},
                {"isa", backend->isa()},
                {"threads", backend->threads()}}},
              {"ceilings", ceilings},
              {"kernels", kernels},
              {"provenance", provenance(*backend)}};
}

Result<std::vector<Json>> read_reports(const std::string& names) {
  std::vector<Json> reports;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    std::ifstream file(name);
    if (!file) return Error{Code::io, fmt::format("cannot open '{}'", printable(name))};
    Json json = Json::parse(file, nullptr, false);
    // Several machines of one file, as --output json writes them.
    if (!json.is_array()) json = Json::array({json});
    for (const Json& report : json) {
      const std::string fault = chart_fault(report);
      if (!fault.empty()) return invalid_file(fmt::format("'{}': {}", printable(name), fault));
      reports.push_back(report);
    }
    begin = end + 1;
  }
  return reports;
}

std::string ridge_of(const Json& report) {
  const Json *read = nullptr, *peak = nullptr;
  const auto threads = [](const Json& c) { return c.value("threads", 0); };
  for (const Json& c : report["ceilings"]["read"]) {
    const bool better = !read || threads(c) > threads(*read) ||
                        (threads(c) == threads(*read) && c["gb_per_second"] < (*read)["gb_per_second"]);
    if (better) read = &c;
  }
  for (const Json& c : report["ceilings"]["arithmetic"]) {
    const bool better =
        !peak || threads(c) > threads(*peak) || (threads(c) == threads(*peak) && c["gflops"] > (*peak)["gflops"]);
    if (better) peak = &c;
  }
  return fmt::format("{}: ridge at {:.3g} FLOP per byte, where {} at {:.4g} GB/s meets {} at {:.4g} GFLOP/s",
                     report["machine"]["name"].get<std::string>(),
                     (*peak)["gflops"].get<double>() / (*read)["gb_per_second"].get<double>(),
                     (*read)["level"].get<std::string>(), (*read)["gb_per_second"].get<double>(),
                     (*peak)["name"].get<std::string>(), (*peak)["gflops"].get<double>());
}

const std::vector<Column> kColumns = {
    {"machine", "machine", {}},
    {"what", "what", {}},
    {"threads", "threads", {}},
    {"gb_per_second", "GB/s", show_fixed(2)},
    {"gflops", "GFLOP/s", show_fixed(1)},
    {"intensity", "FLOP/B", show_fixed(2)},
    {"bound", "bound", {}},
    {"bound_by", "bound by", {}},
    {"roof_fraction", "of roof", show_fixed(3)},
};

void print_table(Output output, const std::vector<Json>& reports) {
  std::vector<Json> rows;
  for (const Json& report : reports) {
    const auto add = [&](const Json& item, const std::string& what) {
      Json row = item;
      row["machine"] = report["machine"]["name"];
      row["what"] = what;
      rows.push_back(std::move(row));
    };
    for (const Json& c : report["ceilings"]["read"]) add(c, "read of " + c["level"].get<std::string>());
    for (const Json& c : report["ceilings"]["arithmetic"]) add(c, "peak of " + c["name"].get<std::string>());
    for (const Json& k : report["kernels"])
      add(k, fmt::format("{}, n = {}", k["format"].get<std::string>(), k.value("n", int64_t(1))));
  }
  print_rows(output, kColumns, rows);
  if (output == Output::csv) return;
  print("\n");
  for (const Json& report : reports) print(ridge_of(report) + "\n");
}

int roofline(const RooflineOptions& options) {
  const bool svg = options.file.ends_with(".svg"), html = options.file.ends_with(".html");
  if (!options.file.empty() && !svg && !html) return usage_error("-o takes a file name that ends in .svg or .html");
  InterruptGuard guard;
  std::vector<Json> reports;
  if (options.from.empty()) {
    auto report = measured_report(options, guard);
    if (!report) return fail(report.error());
    reports.push_back(*std::move(report));
  } else {
    auto read = read_reports(options.from);
    if (!read) return fail(read.error());
    reports = *std::move(read);
  }
  if (!options.file.empty()) {
    std::ofstream file(options.file, std::ios::binary);
    file << (svg ? roofline_svg(reports) : roofline_html(reports));
    file.close();
    if (!file) return fail({Code::io, fmt::format("cannot write '{}'", printable(options.file))});
  }
  if (options.common.output == Output::json) {
    print_json(reports.size() == 1 ? reports.front() : Json(reports));
  } else {
    print_table(options.common.output, reports);
  }
  const bool wrong = std::ranges::any_of(reports, [](const Json& report) {
    return std::ranges::any_of(report["kernels"], [](const Json& k) { return !k.value("checked", true); });
  });
  if (wrong) warn("a kernel has wrong results");
  return wrong ? kFailed : kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<RooflineOptions>();
  add_common_options(app, options->common);
  add_path(app, "-o", options->file, "the picture").named("FILE.svg|.html");
  add_path(app, "--from", options->from, "reports of machines to show together, instead of measuring this one")
      .named("FILE.json,…");
  add_text(app, "--format", options->formats, "formats, or all (default: all)").named("FORMAT,…");
  add_size(app, "--rows", options->rows, "rows of the matrix (default: 4096)");
  add_size(app, "--cols", options->cols, "columns of the matrix (default: 4096)");
  add_sizes(app, "--n", options->n, "columns of activations (default: 1,512)");
  add_size(app, "--rotate", options->rotate, "bytes of distinct weights to go through (default: 300M)");
  add_size(app, "--repeat", options->repeat, "samples (default: 6)", 1, 100'000);
  return [options] { return roofline(*options); };
}

}  // namespace

extern const Command kRoofline;
const Command kRoofline = {"roofline", "the machine's ceilings, and its kernels below them; as a picture too",
                           "  soffit roofline -o roofline.svg\n"
                           "  soffit roofline --output json > here.json\n"
                           "  soffit roofline --from here.json,examples/roofline_m2_pro.json -o both.html",
                           declare};

}  // namespace soffit::tool
