// Choosing experts, adding up what they give, picking rows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check/checks.hpp"
#include "check/random.hpp"
#include "core/concat.hpp"

namespace soffit::checker {
namespace {

struct RouteCase {
  int64_t rows, experts, used;
  float scale = 1;
};

// Logits that differ by at least 1/8, in random order; some rows have ties, which go to the lower id.
std::vector<float> route_logits(const RouteCase& c) {
  Random random(31);
  std::vector<float> logits;
  for (int64_t i = 0; i < c.rows; ++i) {
    std::vector<float> row(static_cast<size_t>(c.experts));
    for (int64_t e = 0; e < c.experts; ++e) row[size_t(e)] = float(i % 3 == 2 ? e / 2 : e) / 8;
    for (int64_t e = c.experts - 1; e > 0; --e) std::swap(row[size_t(e)], row[size_t(random.below(e + 1))]);
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

// p = e^(s - max): the difference is exact or off by u |s - max|, the exponential by 2 ulp; so each weight relative to
// the others is off by 4 u + u |s - max| on both sides of the quotient. Sum, quotient, scale and the softmax's own
// normalisation add `used` + experts + 5 roundings.
void expect_row(const RouteCase& c, std::span<const float> logits, std::vector<Value>& ids,
                std::vector<Value>& weights) {
  std::vector<int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return logits[size_t(a)] > logits[size_t(b)]; });
  const double most = logits[size_t(order[0])];
  double sum = 0, range = 0;
  for (int64_t j = 0; j < c.used; ++j) {
    sum += std::exp(logits[size_t(order[size_t(j)])] - most);
    range = std::max(range, most - logits[size_t(order[size_t(j)])]);
  }
  const double relative = 2 * gamma(4 + range) + gamma(double(c.used + c.experts) + 5);
  for (int64_t j = 0; j < c.used; ++j) {
    const double w = std::exp(logits[size_t(order[size_t(j)])] - most) / sum * double(c.scale);
    ids.push_back({double(order[size_t(j)]), 0});
    weights.push_back({w, relative * w + 1e-37});
  }
}

Result<Outcome> run_route(const RouteCase& c, Backend& backend, Placement& placement) {
  const auto logits = route_logits(c);
  SOFFIT_TRY(const auto x, InputArray::create(backend, placement, {DataType::f32, c.rows, c.experts, 1}, logits));
  SOFFIT_TRY(const auto ids, ResultArray::create(backend, placement, {DataType::i32, c.rows, c.used, 0}));
  SOFFIT_TRY(const auto weights, ResultArray::create(backend, placement, {DataType::f32, c.rows, c.used, 2}));
  std::vector<Value> expected_ids, expected_weights;
  for (int64_t i = 0; i < c.rows; ++i)
    expect_row(c, std::span(logits).subspan(size_t(i * c.experts), size_t(c.experts)), expected_ids, expected_weights);
  SOFFIT_TRY(auto outcome,
             run_one(backend, Route{x.view(), ids.view(), weights.view(), c.scale}, weights, expected_weights));
  const Outcome of_ids = ids.compare(expected_ids);
  return of_ids.verdict == Verdict::passed ? outcome : of_ids;
}

struct CombineCase {
  int64_t rows, cols, used;
  bool residual = false, in_place = false;
};

// used products added to the residual one after the other: used + 1 roundings of the sum of absolute values.
Result<Outcome> run_combine(const CombineCase& c, Backend& backend, Placement& placement) {
  const auto x = normal_array(41, c.rows * c.used * c.cols), weights = normal_array(42, c.rows * c.used),
             residual = normal_array(43, c.rows * c.cols);
  SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, c.rows, c.cols, 3}));
  SOFFIT_TRY(const auto xs, InputArray::create(backend, placement, {DataType::f32, c.rows * c.used, c.cols, 1}, x));
  SOFFIT_TRY(const auto ws, InputArray::create(backend, placement, {DataType::f32, c.rows, c.used, 2}, weights));
  SOFFIT_TRY(const auto added, InputArray::create(backend, placement, {DataType::f32, c.rows, c.cols, 0}, residual));
  Combine combine{xs.view(), ws.view(), {}, y.view()};
  if (c.in_place) {
    SOFFIT_CHECK(y.set(residual));
    combine.residual = y.view();
  } else if (c.residual) {
    combine.residual = added.view();
  }
  std::vector<Value> expected;
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t k = 0; k < c.cols; ++k) {
      double sum = c.residual ? double(residual[size_t(i * c.cols + k)]) : 0, size = std::fabs(sum);
      for (int64_t j = 0; j < c.used; ++j) {
        const double term = double(x[size_t((i * c.used + j) * c.cols + k)]) * weights[size_t(i * c.used + j)];
        sum += term, size += std::fabs(term);
      }
      expected.push_back({sum, gamma(double(c.used) + 1) * size});
    }
  return run_one(backend, combine, y, expected);
}

Result<Outcome> run_gather(int64_t from, int64_t n, int64_t cols, Backend& backend, Placement& placement) {
  Random random(51);
  const auto x = normal_array(52, from * cols);
  std::vector<int32_t> ids;
  std::vector<Value> expected;
  for (int64_t i = 0; i < n; ++i) {
    ids.push_back(int32_t(i == 0 ? from - 1 : random.below(from)));
    for (int64_t k = 0; k < cols; ++k) expected.push_back({x[size_t(ids.back() * cols + k)], 0});
  }
  SOFFIT_TRY(const auto xs, InputArray::create(backend, placement, {DataType::f32, from, cols, 2}, x));
  SOFFIT_TRY(const auto rows, InputArray::create(backend, placement, ids, 1, n));
  SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, n, cols, 1}));
  return run_one(backend, Gather{xs.view(), rows.view(), y.view()}, y, expected);
}

}  // namespace

std::vector<Check> route_checks(bool quick) {
  std::vector<Check> checks;
  for (int64_t experts : {1, 2, 31, 32, 33, 64, 65, 128, 256, 512})
    for (int64_t used : {int64_t(1), int64_t(2), int64_t(3), int64_t(5), int64_t(8), experts}) {
      if (used > experts || (quick && used == 5)) continue;
      const RouteCase c{5, experts, used, used == 3 ? 2.5f : 1.0f};
      add_check(checks, {OperationKind::route, Format::f32, used, experts, c.rows, concat(used, " used")},
                [c](Backend& b, Placement& p) { return run_route(c, b, p); });
    }
  return checks;
}

std::vector<Check> combine_checks(bool quick) {
  std::vector<Check> checks;
  for (int64_t cols : odd_lengths(quick))
    for (bool residual : {false, true}) {
      const CombineCase c{3, cols, 1 + cols % 8, residual, residual && cols % 2 != 0};
      add_check(checks,
                {OperationKind::combine, Format::f32, c.used, cols, c.rows,
                 !residual    ? ""
                 : c.in_place ? "residual in place"
                              : "residual"},
                [c](Backend& b, Placement& p) { return run_combine(c, b, p); });
    }
  return checks;
}

std::vector<Check> gather_checks(bool quick) {
  std::vector<Check> checks;
  for (int64_t cols : odd_lengths(quick))
    add_check(checks, {OperationKind::gather, Format::f32, 9, cols, 5, ""},
              [cols](Backend& b, Placement& p) { return run_gather(9, 5, cols, b, p); });
  return checks;
}

}  // namespace soffit::checker
