// The gated delta rule.
//
// Let u be 2^-24 and r = gamma((17 + log2 key_dim) / 2 + 4) the relative error of normalised keys and
// queries (checks_norm.cpp: sum of squares, root, quotient, product). With t = time + bias:
//   softplus(t)   d_p = u |t| + 4 u min(1, e^t) + 4 u softplus   (the sum's rounding, and 2 ulp each of exp and log1p)
//   alpha         d_a = alpha (|rate| d_p + u |rate softplus| + 4 u)
//   beta          d_b = 6 u beta
// Errors of the matrix S are followed by columns j, one for each value: e_j bounds the length of the error of column j.
// The update multiplies it by alpha (I - beta k k^T), whose norm is at most alpha as |k| <= 1 and 0 <= beta <= 1, so
// errors fade as S itself does; elementwise bounds would double with each row. What a row adds, with s_j the length of
// the column before it and S_j + its error of at most f = s_j + e_j:
//   k^T S_j      w   = (r + gamma(key_dim + 1)) f
//   d = beta (v - alpha k^T S_j)
//                d_d = beta (alpha w + d_a f) + d_b (|v| + alpha f) + 4 u beta (|v| + alpha f)
//   S_j          e_j <- alpha e_j + d_d + d_a f + r D + 3 u (alpha f + D),      D = |d| + beta alpha e_j + d_d >= |d|
//   scale q^T S_j     |scale| (e_j + (r + gamma(key_dim + 8)) (alpha f + D))
// The last line holds for S updated first and for alpha q^T S + (q k) d alike. Products of errors: 1 % more.
#include <cmath>

#include "check/recurrent_rows.hpp"
#include "core/concat.hpp"

namespace soffit::checker {
namespace {

struct RuleCase {
  int64_t key_heads, heads, key_dim, value_dim;
  float size = 1;  // of q, k and v
};

struct Inputs {
  std::vector<float> q, k, v, time, beta;
};

// One head's matrix by its definition, and how far each column may be off.
class Matrix {
 public:
  Matrix(int64_t keys, int64_t values)
      : keys_(keys), values_(values), s_(size_t(keys * values)), error_(size_t(values)) {}

  void row(std::span<const double> q, std::span<const double> k, const float* v, Value alpha, Value beta, double scale,
           std::vector<Value>& y) {
    const auto n = double(keys_);
    const double r = gamma((17 + std::log2(n)) / 2 + 4);
    for (int64_t j = 0; j < values_; ++j) {
      double squares = 0, predicted = 0;
      for (int64_t i = 0; i < keys_; ++i) {
        squares += at(i, j) * at(i, j);
        predicted += k[size_t(i)] * at(i, j);
      }
      double& e = error_[size_t(j)];
      const double f = std::sqrt(squares) + e, reach = std::fabs(double(v[j])) + alpha.exact * f;
      const double d = beta.exact * (double(v[j]) - alpha.exact * predicted);
      const double w = (r + gamma(n + 1)) * f;
      const double d_error =
          beta.exact * (alpha.exact * w + alpha.bound * f) + beta.bound * reach + 4 * kUnit * beta.exact * reach;
      const double most = std::fabs(d) + beta.exact * alpha.exact * e + d_error;
      e = 1.01 * (alpha.exact * e + d_error + alpha.bound * f + r * most + 3 * kUnit * (alpha.exact * f + most)) +
          0x1p-140;
      double sum = 0;
      for (int64_t i = 0; i < keys_; ++i) {
        at(i, j) = alpha.exact * at(i, j) + k[size_t(i)] * d;
        sum += q[size_t(i)] * at(i, j);
      }
      y.push_back(
          {scale * sum, 1.01 * std::fabs(scale) * (e + (r + gamma(n + 8)) * (alpha.exact * f + most)) + 0x1p-140});
    }
  }

 private:
  double& at(int64_t i, int64_t j) { return s_[size_t(i * values_ + j)]; }
  int64_t keys_, values_;
  std::vector<double> s_, error_;
};

std::vector<double> normalised(const float* x, int64_t n, double epsilon) {
  std::vector<double> unit(x, x + n);
  double sum = 0;
  for (double v : unit) sum += v * v;
  for (double& v : unit) v /= std::max(std::sqrt(sum), epsilon);
  return unit;
}

Value decay(float time, float bias, float rate) {
  const double t = double(time) + double(bias), softplus = std::log1p(std::exp(t));
  const double error = kUnit * (std::fabs(t) + 4 * std::min(1.0, std::exp(t)) + 4 * softplus);
  const double alpha = std::exp(double(rate) * softplus), size = std::fabs(double(rate));
  return {alpha, 1.01 * alpha * (size * error + kUnit * size * softplus + 4 * kUnit) + 0x1p-126};
}

Value strength(float x) {
  const double beta = 1 / (1 + std::exp(-double(x)));
  return {beta, 6 * kUnit * beta + 0x1p-126};
}

Result<Outcome> run_rule(const RuleCase& c, bool quick, Backend& backend, Placement& placement) {
  constexpr float kEpsilon = 1e-6f;
  const float scale = 1 / std::sqrt(float(c.key_dim));
  auto rate = normal_array(91, c.heads), bias = normal_array(92, c.heads);
  for (float& a : rate) a = -std::exp(a);
  std::vector<Matrix> matrices(size_t(kSequences * c.heads), Matrix(c.key_dim, c.value_dim));
  const auto array = [&](int64_t rows, int64_t cols, int64_t gap, const std::vector<float>& values) {
    return InputArray::create(backend, placement, {DataType::f32, rows, cols, gap}, values);
  };
  SOFFIT_TRY(const auto rates, array(1, c.heads, 0, rate));
  SOFFIT_TRY(const auto biases, array(1, c.heads, 0, bias));
  const auto run = [&](const std::vector<Place>& places, State& state, uint64_t seed) -> Result<Outcome> {
    const auto n = int64_t(places.size()), key_cols = c.key_heads * c.key_dim, value_cols = c.heads * c.value_dim;
    const Inputs in{normal_array(seed, n * key_cols, c.size), normal_array(seed + 1, n * key_cols, c.size),
                    normal_array(seed + 2, n * value_cols, c.size), normal_array(seed + 3, n * c.heads, 3),
                    normal_array(seed + 4, n * c.heads, 2)};
    SOFFIT_TRY(const auto q, array(n, key_cols, 1, in.q));
    SOFFIT_TRY(const auto k, array(n, key_cols, 0, in.k));
    SOFFIT_TRY(const auto v, array(n, value_cols, 2, in.v));
    SOFFIT_TRY(const auto time, array(n, c.heads, 1, in.time));
    SOFFIT_TRY(const auto beta, array(n, c.heads, 3, in.beta));
    SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, n, value_cols, 1}));
    SOFFIT_TRY(const PlacedRows rows, place_rows(backend, placement, places));
    std::vector<Value> expected;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t h = 0; h < c.heads; ++h) {
        const int64_t key = i * key_cols + h % c.key_heads * c.key_dim, one = i * c.heads + h;
        matrices[size_t(places[size_t(i)].sequence * c.heads + h)].row(
            normalised(in.q.data() + key, c.key_dim, kEpsilon), normalised(in.k.data() + key, c.key_dim, kEpsilon),
            in.v.data() + one * c.value_dim, decay(in.time[size_t(one)], bias[size_t(h)], rate[size_t(h)]),
            strength(in.beta[size_t(one)]), double(scale), expected);
      }
    GatedDeltaRule rule;
    rule.q = q.view(), rule.k = k.view(), rule.v = v.view(), rule.time = time.view(), rule.beta = beta.view();
    rule.rate = rates.view(), rule.time_bias = biases.view();
    rule.epsilon = kEpsilon, rule.scale = scale, rule.state = &state, rule.layer = kRecurrentLayer;
    rule.sequences = rows.sequences.view(), rule.positions = rows.positions.view(), rule.y = y.view();
    const Operation operations[] = {rule};
    SOFFIT_TRY(const auto plan, backend.plan(operations, {}));
    SOFFIT_CHECK(plan->run());
    return y.compare(expected);
  };
  return run_batches(OperationKind::gated_delta_rule, {0, 0, c.heads, c.key_dim, c.value_dim}, quick, backend, run);
}

}  // namespace

std::vector<Check> gated_delta_rule_checks(bool quick) {
  std::vector<Check> checks;
  const auto add = [&](const RuleCase& c) {
    add_check(checks,
              {OperationKind::gated_delta_rule, Format::f32, c.heads, c.value_dim, 70,
               concat(c.key_heads, " key heads, keys of ", c.key_dim, c.size == 1 ? "" : ", large")},
              [c, quick](Backend& b, Placement& p) { return run_rule(c, quick, b, p); });
  };
  add({1, 1, 1, 1});
  add({1, 2, 16, 16});
  add({2, 4, 17, 33});
  add({3, 3, 8, 24});
  add({2, 6, 64, 15});
  add({1, 2, 16, 16, 1e4f});
  add({1, 2, 16, 16, 1e-4f});
  if (!quick) add({2, 4, 128, 128});
  return checks;
}

}  // namespace soffit::checker
