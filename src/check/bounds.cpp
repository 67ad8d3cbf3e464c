#include "check/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "check/decoded.hpp"

namespace soffit::checker {

void activation_errors(std::span<const double> x, int activation_block, std::span<double> errors) {
  std::ranges::fill(errors, 0.0);
  if (activation_block == 0) return;
  for (size_t begin = 0; begin < x.size(); begin += size_t(activation_block)) {
    const size_t end = std::min(x.size(), begin + size_t(activation_block));
    double largest = 0;
    for (size_t k = begin; k < end; ++k) largest = std::max(largest, std::fabs(x[k]));
    for (size_t k = begin; k < end; ++k)
      if (x[k] != 0)
        errors[k] = std::min(std::fabs(x[k]), largest / 254) + 4 * kUnit * largest + 127 * 0x1p-149 +
                    (activation_block == 32 ? 0x1p-11 * (std::fabs(x[k]) + largest / 254) : 0);
  }
}

Value product(Format format, int64_t cols, const Arithmetic& arithmetic, const ProductSums& s) {
  const int activation_block = arithmetic.activation_block;
  const Grouping g = grouping(format);
  const double groups = std::ceil(double(cols) / g.columns) * (g.minimum ? 2 : 1);
  double terms;
  if (activation_block)
    terms = groups + std::ceil(double(cols) / 256);
  else
    terms = g.columns == 1 ? double(cols) : double(cols) + groups;
  const double subnormal = terms * 0x1p-149 * std::max({1.0, s.activation, s.parts});
  double bound = s.rounding + gamma(terms + 2) * s.terms + (s.terms > 0 ? subnormal : 0);
  if (g.minimum) bound += kUnit * s.decode;
  if (g.minimum && activation_block == 32) bound += 0x1p-11 * s.terms;
  if (arithmetic.has_offset())
    bound += gamma(terms + 2) * s.terms + gamma(2 * terms + 4) * arithmetic.code_offset * s.steps;
  return {s.exact, bound};
}

Value scaled(Value v, double factor) {
  const double size = std::fabs(factor);
  return {v.exact * factor, size * v.bound + kUnit * size * (std::fabs(v.exact) + v.bound) + 0x1p-150};
}

Value plus(Value v, double addend) {
  const double sum = v.exact + addend;
  return {sum, v.bound + kUnit * (std::fabs(sum) + v.bound)};
}

namespace {

// GELU is 0.5 x (1 + tanh(v / 2)) = x / (1 + e^-v): the latter keeps its digits where the result is small.
double gelu_argument(double x) { return 2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x); }

// The function and the largest slope it has anywhere.
double exact_activation(Activation activation, double x) {
  const double v = activation == Activation::silu ? x : gelu_argument(x);
  return x / (1 + std::exp(-v));
}
constexpr double largest_slope(Activation activation) { return activation == Activation::silu ? 1.1 : 1.13; }

}  // namespace

// Both activations are x / (1 + e^-v). SiLU has v = x; an error of 2 ulp of the exponential (4 u), and one rounding
// each of sum and quotient give 6 u |act(x)|. GELU's v = 1.5957 (x + 0.0447 x^3) has four roundings and a rounded
// constant, so it is off by at most 6 u |v|, and d act / d v = act(x) (1 - sigmoid(v)): another 6 u |v| (1 -
// sigmoid(v)) |act(x)|. Where the exponential overflows, the result is less than 2^-100.
Value activated(Activation activation, Value x) {
  const double y = exact_activation(activation, x.exact);
  double relative = 6 * kUnit;
  if (activation == Activation::gelu_tanh) {
    const double v = gelu_argument(x.exact);
    relative += 6 * kUnit * std::fabs(v) / (1 + std::exp(v));
  }
  return {y, largest_slope(activation) * x.bound + relative * (std::fabs(y) + 1.13 * x.bound) + 0x1p-100};
}

Value gated(Activation activation, Value gate, Value up) {
  const Value a = activated(activation, gate);
  const double y = a.exact * up.exact;
  const double bound = a.bound * (std::fabs(up.exact) + up.bound) + std::fabs(a.exact) * up.bound;
  return {y, bound + kUnit * (std::fabs(y) + bound) + 0x1p-149 * (1 + std::fabs(up.exact))};
}

double stored_bound(DataType type, Value v) {
  const double size = std::fabs(v.exact) + v.bound;
  switch (type) {
    case DataType::f16:
      // From 65520 on the nearest f16 is infinity.
      if (size >= 65520) return std::numeric_limits<double>::infinity();
      return v.bound + std::max(0x1p-25, 0x1p-11 * size);
    case DataType::bf16:
      return v.bound + std::max(0x1p-134, 0x1p-8 * size);
    default:
      return v.bound;
  }
}

double error_over_bound(double result, DataType type, Value v) {
  const double error = std::fabs(result - v.exact), bound = stored_bound(type, v);
  if (std::isnan(error) || std::isnan(bound)) return std::numeric_limits<double>::quiet_NaN();
  if (error == 0 || std::isinf(bound)) return 0;
  return bound == 0 ? std::numeric_limits<double>::infinity() : error / bound;
}

}  // namespace soffit::checker
