// RMS norm. The sum of squares has positive terms only, so its relative error is that of the longest chain of additions
// a backend may make: 16 in a row and the pairs that are left, (16 + log2 n) u, and u for each square. The root halves
// it; adding epsilon, the mean, the root, the quotient and two products round once each. With f the exact factor:
//   bound = (17 + log2 n) / 2 + 6 roundings of |x f w|, and the residual's.
#include <cmath>

#include "check/checks.hpp"
#include "core/concat.hpp"

namespace soffit::checker {
namespace {

enum class Into : uint8_t { other, x, residual };

struct NormCase {
  int64_t rows, cols;
  bool residual = false;
  Into into = Into::other;
  float size = 1, epsilon = 1e-6f;
  int64_t gap = 0;
};

std::vector<Value> expected(const NormCase& c, const std::vector<float>& x, const std::vector<float>& weight,
                            const std::vector<float>& residual) {
  std::vector<Value> values;
  const double roundings = (17 + std::log2(double(c.cols))) / 2 + 6;
  for (int64_t i = 0; i < c.rows; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < c.cols; ++k) sum += double(x[size_t(i * c.cols + k)]) * x[size_t(i * c.cols + k)];
    const double factor = 1 / std::sqrt(sum / double(c.cols) + double(c.epsilon));
    for (int64_t k = 0; k < c.cols; ++k) {
      const double y = double(x[size_t(i * c.cols + k)]) * factor * weight[size_t(k)];
      Value v{y, gamma(roundings) * std::fabs(y) + 0x1p-149};
      if (c.residual) v = plus(v, residual[size_t(i * c.cols + k)]);
      values.push_back(v);
    }
  }
  return values;
}

Result<Outcome> run(const NormCase& c, Backend& backend, Placement& placement) {
  const int64_t count = c.rows * c.cols;
  const auto x = normal_array(11, count, c.size), weight = normal_array(12, c.cols), residual = normal_array(13, count);
  SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, c.rows, c.cols, c.gap}));
  SOFFIT_TRY(const auto x_array, InputArray::create(backend, placement, {DataType::f32, c.rows, c.cols, 2}, x));
  SOFFIT_TRY(const auto weights, InputArray::create(backend, placement, {DataType::f32, 1, c.cols, 0}, weight));
  SOFFIT_TRY(const auto added, InputArray::create(backend, placement, {DataType::f32, c.rows, c.cols, 1}, residual));
  RmsNorm norm;
  norm.x = x_array.view(), norm.y = y.view(), norm.weight = weights.view(), norm.epsilon = c.epsilon;
  if (c.residual) norm.residual = added.view();
  if (c.into == Into::x) {
    SOFFIT_CHECK(y.set(x));
    norm.x = y.view();
  } else if (c.into == Into::residual) {
    SOFFIT_CHECK(y.set(residual));
    norm.residual = y.view();
  }
  return run_one(backend, norm, y, expected(c, x, weight, residual));
}

}  // namespace

std::vector<Check> norm_checks(bool quick) {
  std::vector<Check> checks;
  const auto add = [&](NormCase c, const char* variant) {
    add_check(checks, {OperationKind::rms_norm, Format::f32, c.rows, c.cols, c.rows, variant},
              [c](Backend& b, Placement& p) { return run(c, b, p); });
  };
  for (int64_t cols : odd_lengths(quick)) {
    add({3, cols}, "");
    add({2, cols, true, Into::other, 1, 1e-6f, 3}, "residual");
  }
  add({5, 576, false, Into::x}, "in place of x");
  add({5, 576, true, Into::residual}, "in place of the residual");
  add({2, 100, false, Into::other, 1e15f}, "x of 1e15");
  add({2, 100, false, Into::other, 1e-15f, 1e-6f}, "x of 1e-15");
  add({2, 100, false, Into::other, 1e-15f, 0}, "x of 1e-15, epsilon 0");
  return checks;
}

}  // namespace soffit::checker
