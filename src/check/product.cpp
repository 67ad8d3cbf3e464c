#include "check/product.hpp"

#include <cmath>

namespace soffit::checker {

ActivationRow::ActivationRow(std::span<const float> from, int activation_block)
    : x(from.begin(), from.end()), error(x.size()), reach(x.size()) {
  activation_errors(x, activation_block, error);
  for (size_t k = 0; k < x.size(); ++k) {
    reach[k] = std::fabs(x[k]) + error[k];
    activation += reach[k];
  }
}

Value product(Format format, const Arithmetic& arithmetic, const DecodedRow& w, const ActivationRow& x) {
  constexpr size_t kLanes = 4;  // apart, so that the compiler may use vectors
  double exact[kLanes] = {}, rounding[kLanes] = {}, decode[kLanes] = {}, terms[kLanes] = {};
  const auto add = [&](size_t k, size_t lane) {
    const double product = w.weight[k] * x.x[k];
    exact[lane] += product;
    decode[lane] += std::fabs(product);
    rounding[lane] += std::fabs(w.weight[k]) * x.error[k];
    terms[lane] += w.magnitude[k] * x.reach[k];
  };
  const size_t cols = x.x.size();
  size_t k = 0;
  for (; k + kLanes <= cols; k += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) add(k + lane, lane);
  for (; k < cols; ++k) add(k, 0);
  const auto total = [](const double* v) { return v[0] + v[1] + v[2] + v[3]; };
  double steps = 0;
  if (arithmetic.has_offset())
    for (size_t i = 0; i < cols; ++i) steps += w.step[i] * x.reach[i];
  return product(format, int64_t(cols), arithmetic,
                 {total(exact), total(rounding), total(decode), total(terms), x.activation, w.magnitude_sum, steps});
}

}  // namespace soffit::checker
