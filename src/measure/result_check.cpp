#include "measure/result_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "check/product.hpp"

namespace soffit::measure {
namespace {

// Multiplications that the oracle may take for all variants together: about a second.
constexpr int64_t kOracleProducts = int64_t(1) << 28;

// `count` of [0, size), evenly spread, with the first and the last.
std::vector<int64_t> spread(int64_t size, int64_t count) {
  std::set<int64_t> chosen;
  for (int64_t i = 0; i < count; ++i) chosen.insert(count == 1 ? 0 : i * (size - 1) / (count - 1));
  return {chosen.begin(), chosen.end()};
}

}  // namespace

ResultCheck::ResultCheck(const Workload& workload, const checker::Arithmetic& arithmetic)
    : workload_(workload), arithmetic_(arithmetic) {
  const KernelCase& c = workload.kernel_case();
  const int64_t products = std::max<int64_t>(1, c.matrix.rows * c.matrix.cols * workload.variants());
  const int64_t rows = c.result_rows();
  sample_ = spread(rows, std::clamp<int64_t>(kOracleProducts / products, 1, rows));
}

Result<double> ResultCheck::error_over_bound(size_t leg, int64_t operation) {
  SOFFIT_TRY(std::vector<float> y, workload_.results(operation));
  const int64_t variant = workload_.variant(leg, operation);
  if (workload_.kernel_case().operation == OperationKind::get_rows) return rows_against_oracle(variant, y);
  const auto known = known_.find(variant);
  if (known != known_.end()) {
    const bool same = std::memcmp(known->second.results.data(), y.data(), y.size() * sizeof(float)) == 0;
    return same ? known->second.error_over_bound : std::numeric_limits<double>::infinity();
  }
  const double error = against_oracle(variant, y);
  known_.emplace(variant, Known{std::move(y), error});
  return error;
}

double ResultCheck::against_oracle(int64_t variant, std::span<const float> y) const {
  if (!std::ranges::all_of(y, [](float v) { return std::isfinite(v); }))
    return std::numeric_limits<double>::quiet_NaN();
  const KernelCase& c = workload_.kernel_case();
  const auto cols = size_t(c.matrix.cols);
  const bool routed = c.operation == OperationKind::linear_id;
  std::map<int64_t, std::vector<std::pair<int64_t, checker::ActivationRow>>> samples;  // by expert: row of results, x
  for (const int64_t s : sample_) {
    const auto x = workload_.x().subspan(size_t(routed ? s / c.used : s) * cols, cols);
    samples[routed ? workload_.ids(variant)[size_t(s)] : 0].emplace_back(
        s, checker::ActivationRow(x, arithmetic_.activation_block));
  }
  const size_t row_size = workload_.file().size() / size_t(c.matrix.rows * c.matrix.experts);
  double worst = 0;
  for (const auto& [expert, rows] : samples)
    for (int64_t r = 0; r < c.matrix.rows; ++r) {
      const auto bytes = workload_.file().subspan(size_t(expert * c.matrix.rows + r) * row_size, row_size);
      const checker::DecodedRow w = checker::decode_row(c.matrix.format, bytes, arithmetic_.has_offset());
      for (const auto& [s, x] : rows) {
        const checker::Value exact = checker::product(c.matrix.format, arithmetic_, w, x);
        const double error = checker::error_over_bound(y[size_t(s * c.matrix.rows + r)], DataType::f32, exact);
        worst = checker::worse(worst, error);
      }
    }
  return worst;
}

// Exact: the reference's bits, or a fault.
double ResultCheck::rows_against_oracle(int64_t variant, std::span<const float> y) const {
  const MatrixDescription& m = workload_.kernel_case().matrix;
  const FormatInfo& format = info(m.format);
  const auto cols = size_t(m.cols), row_size = workload_.file().size() / size_t(m.rows);
  std::vector<float> expected(cols);
  const auto ids = workload_.ids(variant);
  for (size_t i = 0; i < ids.size(); ++i) {
    format.decode(workload_.file().data() + size_t(ids[i]) * row_size, expected.data(), cols / format.block_elements);
    if (std::memcmp(expected.data(), y.data() + i * cols, cols * sizeof(float)) != 0)
      return std::numeric_limits<double>::infinity();
  }
  return 0;
}

}  // namespace soffit::measure
