// Rotary position embedding, with the norm of heads before it.
//
// A backend may compute angles in fp32 by a chain of products from pair to pair, as llama.cpp does. (The CPU's are
// better: tests/cpu/rope_test.cpp.) Then step = base^(-2/n) is off by at most 4 u (its exponent's rounding times |ln
// step| < 1, and the power's 2 ulp to be safe), so the angle of pair i by (5 i + 4) u of its value; YaRN's mixture of
// two angles adds at most 10 u of their sum. A sine or cosine moves by as much as its angle, and is itself good to 1
// ulp; magnitude, two products and their sum round: 9 u more. bound = (|a| + |b|) magnitude (d angle + 9 u), plus what
// a and b were off before.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "check/checks.hpp"
#include "core/concat.hpp"

namespace soffit::checker {
namespace {

struct RotateCase {
  int64_t heads, head_dim;
  RopeParameters rope;
  bool norm = false, factors = false;
  std::vector<int32_t> positions;
};

struct Angle {
  double value, error, magnitude;
};

Angle angle_of(const RotateCase& c, int64_t pair, int32_t position, const std::vector<float>& factors) {
  const RopeParameters& r = c.rope;
  const auto n = double(r.dimensions);
  const double theta = double(position) * std::pow(double(r.base), -2.0 * double(pair) / n);
  const double outer = theta / (c.factors ? double(factors[size_t(pair)]) : 1);
  const double inner = double(r.frequency_scale) * outer;
  const double chain = 5 * double(pair) + 4;
  if (r.extrapolation == 0) return {inner, gamma(chain) * std::fabs(inner), double(r.attention_factor)};
  const auto correction = [&](double rotations) {
    return n * std::log(double(r.original_context) / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(double(r.base)));
  };
  const double low = std::max(0.0, std::floor(correction(r.beta_fast)));
  const double high = std::min(n - 1, std::ceil(correction(r.beta_slow)));
  const double ramp = std::clamp((double(pair) - low) / std::max(0.001, high - low), 0.0, 1.0);
  const double mix = (1 - ramp) * double(r.extrapolation);
  const double magnitude = double(r.attention_factor) * (1 + 0.1 * std::log(1 / double(r.frequency_scale)));
  return {inner * (1 - mix) + outer * mix, gamma(chain + 10) * (std::fabs(inner) + std::fabs(outer)), magnitude};
}

// The head after its norm; see checks_norm.cpp for the roundings.
std::vector<Value> normed(const RotateCase& c, const float* x, const std::vector<float>& weight, float epsilon) {
  std::vector<Value> head;
  double sum = 0;
  for (int64_t k = 0; k < c.head_dim; ++k) sum += double(x[k]) * double(x[k]);
  const double factor = c.norm ? 1 / std::sqrt(sum / double(c.head_dim) + double(epsilon)) : 1;
  const double roundings = c.norm ? (17 + std::log2(double(c.head_dim))) / 2 + 6 : 0;
  for (int64_t k = 0; k < c.head_dim; ++k) {
    const double v = double(x[k]) * factor * (c.norm ? double(weight[size_t(k)]) : 1);
    head.push_back({v, gamma(roundings) * std::fabs(v)});
  }
  return head;
}

void rotate_pair(const Angle& angle, Value& a, Value& b) {
  const double cosine = std::cos(angle.value) * angle.magnitude, sine = std::sin(angle.value) * angle.magnitude;
  const double size = std::fabs(a.exact) + std::fabs(b.exact), before = a.bound + b.bound;
  const double bound = std::fabs(angle.magnitude) * (size * (angle.error + gamma(9)) + 1.01 * before) + 0x1p-140;
  const double x = a.exact, y = b.exact;
  a = {x * cosine - y * sine, bound};
  b = {x * sine + y * cosine, bound};
}

Result<Outcome> run(const RotateCase& c, Backend& backend, Placement& placement) {
  const auto n = int64_t(c.positions.size()), cols = c.heads * c.head_dim, pairs = c.rope.dimensions / 2;
  const auto x = normal_array(61, n * cols), weight = normal_array(62, c.head_dim);
  auto factors = normal_array(63, pairs);
  for (float& f : factors) f = 1 + std::fabs(f);
  SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, n, cols, 3}));
  SOFFIT_CHECK(y.set(x));
  SOFFIT_TRY(const auto norm, InputArray::create(backend, placement, {DataType::f32, 1, c.head_dim, 0}, weight));
  SOFFIT_TRY(const auto factor, InputArray::create(backend, placement, {DataType::f32, 1, pairs, 0}, factors));
  SOFFIT_TRY(const auto positions, InputArray::create(backend, placement, c.positions, 1, n));
  Rotate rotate{y.view(), c.head_dim, {}, 1e-6f, c.rope, positions.view()};
  if (c.norm) rotate.norm = norm.view();
  if (c.factors) rotate.rope.frequency_factors = factor.view();
  std::vector<Value> expected;
  for (int64_t i = 0; i < n * c.heads; ++i) {
    auto head = normed(c, x.data() + i * c.head_dim, weight, rotate.epsilon);
    const bool adjacent = c.rope.pairs == RopeParameters::Pairs::adjacent;
    for (int64_t p = 0; p < pairs; ++p) {
      const auto first = size_t(adjacent ? 2 * p : p), second = size_t(adjacent ? 2 * p + 1 : p + pairs);
      rotate_pair(angle_of(c, p, c.positions[size_t(i / c.heads)], factors), head[first], head[second]);
    }
    expected.insert(expected.end(), head.begin(), head.end());
  }
  return run_one(backend, rotate, y, expected);
}

}  // namespace

std::vector<Check> rotate_checks(bool quick) {
  std::vector<Check> checks;
  const auto add = [&](const RotateCase& c, const char* variant) {
    add_check(checks, {OperationKind::rotate, Format::f32, c.heads, c.head_dim, int64_t(c.positions.size()), variant},
              [c](Backend& b, Placement& p) { return run(c, b, p); });
  };
  const std::vector<int32_t> positions = {0, 1, 2, 7, 100, 100, 4095, 32767};
  using Pairs = RopeParameters::Pairs;
  for (Pairs pairs : {Pairs::halves, Pairs::adjacent})
    for (int64_t dim : quick ? std::vector<int64_t>{64} : std::vector<int64_t>{2, 16, 34, 64, 80, 128, 256}) {
      RotateCase c{3, dim, {}, false, false, positions};
      c.rope.pairs = pairs, c.rope.dimensions = dim;
      add(c, "whole heads");
      c.norm = true;
      add(c, "norm");
      c.factors = true, c.rope.base = 500000;
      add(c, "norm, frequency factors");
      c.norm = false, c.factors = false, c.rope.dimensions = dim / 4 * 2, c.rope.frequency_scale = 0.125f;
      add(c, "half of each head, scaled");
    }
  RotateCase yarn{2, 64, {}, false, false, positions};
  yarn.rope.dimensions = 64, yarn.rope.extrapolation = 1, yarn.rope.frequency_scale = 0.25f;
  yarn.rope.original_context = 4096;
  add(yarn, "YaRN");
  RotateCase norm_only{2, 33, {}, true, false, {5, 6}};
  add(norm_only, "norm, nothing rotates");
  return checks;
}

}  // namespace soffit::checker
