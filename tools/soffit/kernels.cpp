// soffit kernels: the speed of single operations, as fractions of the roof measured beside them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "command.hpp"
#include "console.hpp"
#include "format_list.hpp"
#include "interrupt.hpp"
#include "measure/kernel_bench.hpp"
#include "measure/system.hpp"
#include "model_setup.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "provenance.hpp"
#include "table.hpp"

namespace soffit::tool {
namespace {

struct KernelsOptions {
  CommonOptions common;
  std::string operation = "linear", formats = "all", activations = "f32", layout = "auto";
  int64_t rows = 4096, cols = 4096, experts = 8, used = 2, rotate = 2'000'000'000, repeat = 20;
  std::vector<int64_t> n = {1};

  OperationKind kind() const {
    return operation == "linear"      ? OperationKind::linear
           : operation == "linear_id" ? OperationKind::linear_id
                                      : OperationKind::get_rows;
  }
  bool routed() const { return kind() == OperationKind::linear_id; }
};

class Kernels {
 public:
  Kernels(const KernelsOptions& options, Backend& backend, measure::Roof& roof)
      : options_(options), backend_(backend), roof_(roof) {}

  Status run(std::span<const Format> formats) {
    for (const Format format : formats) {
      SOFFIT_CHECK(run_format(format));
    }
    return {};
  }
  const std::vector<Json>& rows() const { return rows_; }
  bool faulty() const { return faulty_; }

 private:
  Status run_format(Format format) {
    MatrixDescription matrix{format, options_.rows, options_.cols, options_.routed() ? options_.experts : 1};
    SOFFIT_TRY(const uint64_t bytes, matrix_bytes(matrix));
    SOFFIT_TRY(const measure::Rotation rotation,
               measure::plan_rotation(uint64_t(options_.rotate), bytes, measure::memory_state().available));
    shortfall_told_ = !rotation.shortfall.empty();
    if (shortfall_told_) warn(fmt::format("{}: {}", name(format), rotation.shortfall));
    const bool in_place = options_.layout == "file" || options_.common.no_repack;
    SOFFIT_TRY(const auto weights,
               measure::RotatingWeights::create(backend_, matrix, in_place ? Layout::file : Layout::automatic, rotation,
                                                seed(), Shown(*this, fmt::format("{}: weights", name(format)))));
    for (const int64_t n : options_.n) {
      const measure::KernelCase kernel_case{
          .operation = options_.kind(),
          .matrix = matrix,
          .n = n,
          .used = options_.used,
          .activations = options_.activations == "f16" ? DataType::f16 : DataType::f32};
      const measure::Arithmetic arithmetic = measure::arithmetic_of(format, options_.common.exact);
      SOFFIT_TRY(const auto figures,
                 measure::measure_kernel(backend_, roof_, weights, kernel_case, arithmetic,
                                         {.samples = int(options_.repeat),
                                          .seed = seed(),
                                          .progress = Shown(*this, fmt::format("{}, n = {}", name(format), n))}));
      add(kernel_case, figures);
    }
    return {};
  }

  void add(const measure::KernelCase& c, const measure::KernelFigures& f) {
    const std::string_view format = name(c.matrix.format);
    note(fmt::format("{}, n = {}: {:.3f} of the {} roof", format, c.n, f.roof_fraction,
                     f.memory_bound ? "read" : "arithmetic"));
    if (int64_t(f.rotated_bytes) < options_.rotate / 10 * 9 && !shortfall_told_) {
      warn(fmt::format("{}, n = {}: operations that read {} B each go through {} MB of weights, not {} MB", format, c.n,
                       f.file_bytes, f.rotated_bytes / 1'000'000, options_.rotate / 1'000'000));
    }
    if (!f.checked) {
      faulty_ = true;
      warn(fmt::format("{}, n = {}: wrong results: error / bound = {}", format, c.n, f.error_over_bound));
    }
    rows_.push_back({{"op", to_string(c.operation)},
                     {"format", format},
                     {"kernel", f.kernel},
                     {"layout", f.layout},
                     {"backend", backend_.name()},
                     {"isa", backend_.isa()},
                     {"threads", backend_.threads()},
                     {"rows", c.matrix.rows},
                     {"cols", c.matrix.cols},
                     {"n", c.n},
                     {"experts", options_.routed() ? Json(c.matrix.experts) : Json()},
                     {"used", options_.routed() ? Json(c.used) : Json()},
                     {"activations", options_.activations},
                     {"exact", options_.common.exact},
                     {"seconds", f.seconds},
                     {"seconds_low", f.seconds_low},
                     {"seconds_high", f.seconds_high},
                     {"file_bytes", f.file_bytes},
                     {"layout_bytes", f.layout_bytes},
                     {"gb_per_second", f.gb_per_second},
                     {"roof_gb_per_second", f.roof_gb_per_second},
                     {"roof_reader", f.reader},
                     {"ratio_median", f.ratio_median},
                     {"ratio_low", f.ratio.low},
                     {"ratio_high", f.ratio.high},
                     {"samples", f.samples},
                     {"noisy", f.noisy},
                     {"bound", f.memory_bound ? "memory" : "compute"},
                     {"roof_fraction", f.roof_fraction},
                     {"gflops", f.gflops},
                     {"roof_gflops", f.roof_gflops},
                     {"roof_instruction", f.instruction},
                     {"intensity", f.intensity},
                     {"error_over_bound", f.error_over_bound},
                     {"checked", f.checked},
                     {"rotated_bytes", f.rotated_bytes},
                     {"operations_together", f.operations},
                     {"provenance", provenance(backend_)}});
  }

  // Shows progress as long as it lives, and stops the work when interrupted.
  class Shown {
   public:
    Shown(Kernels& owner, std::string what) : owner_(owner), line_(std::make_shared<ProgressLine>(std::move(what))) {}
    bool operator()(double fraction) const {
      line_->update(uint64_t(fraction * 1000), 1000);
      return !owner_.guard_.interrupted();
    }

   private:
    Kernels& owner_;
    std::shared_ptr<ProgressLine> line_;
  };

  static std::string_view name(Format format) { return info(format).name; }
  uint64_t seed() const { return options_.common.seed.value_or(1); }

  const KernelsOptions& options_;
  Backend& backend_;
  measure::Roof& roof_;
  InterruptGuard guard_;
  std::vector<Json> rows_;
  bool faulty_ = false, shortfall_told_ = false;
};

std::string show_microseconds(const Json& seconds) { return fmt::format("{:.1f}", seconds.get<double>() * 1e6); }
std::string show_yes(const Json& value) { return value.get<bool>() ? "yes" : "NO"; }
std::string show_mark(const Json& value) { return value.get<bool>() ? "noisy" : ""; }

const std::vector<Column> kColumns = {
    {"op", "op", {}},
    {"format", "format", {}},
    {"kernel", "kernel", {}},
    {"isa", "isa", {}},
    {"threads", "threads", {}},
    {"rows", "rows", {}},
    {"cols", "cols", {}},
    {"n", "n", {}},
    {"seconds", "µs", show_microseconds},
    {"gb_per_second", "GB/s", show_fixed(2)},
    {"roof_gb_per_second", "read", show_fixed(2)},
    {"ratio_median", "ratio", show_fixed(3)},
    {"ratio_low", "low", show_fixed(3)},
    {"ratio_high", "high", show_fixed(3)},
    {"gflops", "GFLOP/s", show_fixed(1)},
    {"roof_gflops", "peak", show_fixed(0)},
    {"bound", "bound", {}},
    {"roof_fraction", "of roof", show_fixed(3)},
    {"noisy", "", show_mark},
    {"error_over_bound", "error/bound", show_fixed(3)},
    {"checked", "right", show_yes},
};

int kernels(const KernelsOptions& options) {
  const auto formats = parse_formats(options.formats);
  if (!formats) return fail(formats.error());
  auto backend = make_backend(options.common);
  if (!backend) return fail(backend.error());
  auto roof = measure::Roof::create(**backend);
  if (!roof) return fail(roof.error());
  Kernels run(options, **backend, **roof);
  if (const Status done = run.run(*formats); !done) return fail(done.error());
  print_rows(options.common.output, kColumns, run.rows());
  return run.faulty() ? kFailed : kDone;
}

std::function<int()> declare(CLI::App& app) {
  auto options = std::make_shared<KernelsOptions>();
  add_common_options(app, options->common);
  add_choice(app, "--op", options->operation, {"linear", "linear_id", "get_rows"},
             "linear, linear_id or get_rows (default: linear)")
      .named("OP");
  add_text(app, "--format", options->formats, "formats, or all (default: all)").named("FORMAT,…");
  add_size(app, "--rows", options->rows, "rows of the matrix (default: 4096)");
  add_size(app, "--cols", options->cols, "columns of the matrix (default: 4096)");
  add_sizes(app, "--n", options->n, "columns of activations; rows taken by get_rows (default: 1)");
  add_size(app, "--experts", options->experts, "matrices of linear_id (default: 8)");
  add_size(app, "--used", options->used, "experts of a token (default: 2)");
  add_choice(app, "--activations", options->activations, {"f32", "f16"}, "f32 or f16 (default: f32)").named("TYPE");
  add_choice(app, "--layout", options->layout, {"auto", "file"},
             "auto, or file: the bytes as they are in the file (default: auto)")
      .named("LAYOUT");
  add_size(app, "--rotate", options->rotate,
           "bytes of distinct weights to go through, so that caches cannot flatter; 0: one matrix (default: 2G)");
  add_size(app, "--repeat", options->repeat, "samples (default: 20)", 1, 100'000);
  return [options] { return kernels(*options); };
}

}  // namespace

extern const Command kKernels;
const Command kKernels = {"kernels", "single operations' speed, as fractions of the measured roof",
                          "  soffit kernels --format q4_k,q6_k\n"
                          "  soffit kernels --format all --n 1,8,512 --output md\n"
                          "  soffit kernels --op linear_id --rows 768 --cols 2048 --experts 128 --used 8",
                          declare};

}  // namespace soffit::tool
