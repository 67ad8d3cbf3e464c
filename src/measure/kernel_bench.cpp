#include "measure/kernel_bench.hpp"

#include <algorithm>
#include <cmath>

#include "check/bounds.hpp"
#include "core/concat.hpp"
#include "measure/result_check.hpp"
#include "measure/timer.hpp"

namespace soffit::measure {
namespace {

constexpr double kLegSeconds = 5e-3;  // aimed at: long against the clock and against waking threads
constexpr double kPeakLow = 2e-3, kPeakHigh = 50e-3;
constexpr int64_t kMostTogether = 1024;  // operations of a leg
constexpr int kReaderRounds = 3;
constexpr double kNoise = 0.1;
constexpr double kCheckSeconds = 1;

class Bench {
 public:
  Bench(Roof& roof, Workload& workload, Arithmetic arithmetic)
      : roof_(roof), workload_(workload), arithmetic_(arithmetic) {}

  // Chooses how many operations make a leg.
  Status arrange() {
    SOFFIT_CHECK(workload_.arrange(1));
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) {
      SOFFIT_TRY(const double s, run_kernel());
      seconds.push_back(s);
    }
    const auto all = int64_t(workload_.legs());
    const auto wanted = int64_t(std::ceil(kLegSeconds / std::max(median(seconds), 1e-9)));
    // Legs enough for the three of a sample and those in between.
    return workload_.arrange(std::clamp<int64_t>(wanted, 1, std::clamp<int64_t>(all / 8, 1, kMostTogether)));
  }

  // Legs are run and all their results checked: one, and then as many as fit in so many seconds.
  Status check(ResultCheck& oracle, double& worst, double seconds) {
    const double end = now_seconds() + seconds;
    for (size_t leg = 0; leg < workload_.legs() && (leg == 0 || now_seconds() < end); ++leg) {
      SOFFIT_CHECK(workload_.run(leg));
      for (int64_t i = 0; i < workload_.operations(); ++i) {
        SOFFIT_TRY(const double error, oracle.error_over_bound(leg, i));
        worst = checker::worse(worst, error);
      }
    }
    return {};
  }

  void choose_reader() {
    std::vector<std::vector<double>> seconds(roof_.readers().size());
    for (int round = 0; round < kReaderRounds; ++round)
      for (size_t i = 0; i < seconds.size(); ++i) seconds[i].push_back(roof_.read(i, workload_.regions(next())));
    for (size_t i = 1; i < seconds.size(); ++i)
      if (median(seconds[i]) < median(seconds[reader_])) reader_ = i;
  }

  Status sample() {
    const double before = roof_.read(reader_, workload_.regions(next()));
    SOFFIT_TRY(const double kernel, run_kernel());
    const double after = roof_.read(reader_, workload_.regions(next()));
    // As long as the kernel, so that both lose as much to other processes.
    peaks_.push_back(roof_.peak_gflops(arithmetic_, std::clamp(kernel, kPeakLow, kPeakHigh)));
    const double read = (before + after) / 2;
    reads_.push_back(read);
    kernels_.push_back(kernel);
    ratios_.push_back(read * file_share() / kernel);
    differences_.push_back(std::fabs(before - after) / read);
    return {};
  }

  void fill(KernelFigures& f) const {
    const double operations = double(workload_.operations());
    f.layout = std::string(workload_.layout());
    f.file_bytes = workload_.file_bytes();
    f.layout_bytes = workload_.layout_bytes();
    f.seconds = median(kernels_) / operations;
    f.seconds_low = percentile(kernels_, 0.1) / operations;
    f.seconds_high = percentile(kernels_, 0.9) / operations;
    f.gb_per_second = double(f.file_bytes) / f.seconds / 1e9;
    f.roof_gb_per_second = double(f.layout_bytes) * operations / median(reads_) / 1e9;
    f.ratio_median = median(ratios_);
    f.ratio = median_interval(ratios_);
    f.samples = int(ratios_.size());
    f.noisy = median(differences_) > kNoise;
    f.gflops = workload_.flops() / f.seconds / 1e9;
    f.roof_gflops = median(peaks_);
    f.intensity = workload_.flops() / double(f.file_bytes);
    f.memory_bound = double(f.file_bytes) / f.roof_gb_per_second > workload_.flops() / f.roof_gflops;
    f.roof_fraction = f.memory_bound ? f.ratio_median : f.gflops / f.roof_gflops;
    f.reader = std::string(roof_.readers()[reader_]);
    f.instruction = std::string(roof_.instruction(arithmetic_));
    f.rotated_bytes = workload_.rotated_bytes();
    f.operations = workload_.operations();
  }

 private:
  // The next leg of the rotation.
  size_t next() { return leg_++ % workload_.legs(); }
  // Readers read the layout's bytes; every fraction counts the file's.
  double file_share() const { return double(workload_.file_bytes()) / double(workload_.layout_bytes()); }

  Result<double> run_kernel() {
    const size_t leg = next();
    const double start = now_seconds();
    SOFFIT_CHECK(workload_.run(leg));
    return now_seconds() - start;
  }

  Roof& roof_;
  Workload& workload_;
  const Arithmetic arithmetic_;
  size_t leg_ = 0, reader_ = 0;
  std::vector<double> reads_, kernels_, ratios_, differences_, peaks_;
};

}  // namespace

Result<KernelFigures> measure_kernel(Backend& backend, Roof& roof, const RotatingWeights& weights,
                                     const KernelCase& kernel_case, Arithmetic arithmetic,
                                     const KernelOptions& options) {
  if (options.samples < 1) return invalid_argument(concat(options.samples, " samples"));
  const MatrixDescription& m = kernel_case.matrix;
  const Support support = backend.supports(kernel_case.operation, m.format,
                                           {.rows = m.rows, .cols = m.cols, .n = kernel_case.n, .experts = m.experts});
  if (!support) return unsupported(support.reason);
  SOFFIT_TRY(Workload workload, Workload::create(backend, roof, weights, kernel_case, options.seed));
  Bench bench(roof, workload, arithmetic);
  SOFFIT_CHECK(bench.arrange());

  KernelFigures figures;
  figures.kernel = support.kernel;
  ResultCheck oracle(workload, {support.activation_block, support.code_offset});
  SOFFIT_CHECK(report(options.progress, 0));
  SOFFIT_CHECK(bench.check(oracle, figures.error_over_bound, 0));
  bench.choose_reader();
  for (int i = 0; i < options.samples; ++i) {
    SOFFIT_CHECK(report(options.progress, double(i) / options.samples));
    SOFFIT_CHECK(bench.sample());
  }
  SOFFIT_CHECK(bench.check(oracle, figures.error_over_bound, kCheckSeconds));
  figures.checked = figures.error_over_bound <= 1;
  bench.fill(figures);
  return figures;
}

}  // namespace soffit::measure
