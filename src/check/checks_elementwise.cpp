// Gated activations, sums, products with a number, soft caps.
#include <cmath>

#include "check/checks.hpp"

namespace soffit::checker {
namespace {

// What these operations have in common: rows x cols of one or two inputs, into another array or into the first input.
struct Elementwise {
  int64_t rows, cols, gap = 0;
  bool in_place = false;
  float size = 1;
};

template <class Make, class Exact>
Result<Outcome> run(const Elementwise& c, Make make, Exact exact, Backend& backend, Placement& placement) {
  const int64_t count = c.rows * c.cols;
  const auto a = normal_array(21, count, c.size), b = normal_array(22, count, c.size);
  SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, c.rows, c.cols, c.gap}));
  SOFFIT_TRY(const auto first, InputArray::create(backend, placement, {DataType::f32, c.rows, c.cols, 1}, a));
  SOFFIT_TRY(const auto second, InputArray::create(backend, placement, {DataType::f32, c.rows, c.cols, 2}, b));
  if (c.in_place) SOFFIT_CHECK(y.set(a));
  std::vector<Value> expected;
  for (size_t i = 0; i < a.size(); ++i) expected.push_back(exact(double(a[i]), double(b[i])));
  return run_one(backend, make(c.in_place ? y.view() : first.view(), second.view(), y.view()), y, expected);
}

template <class Make, class Exact>
void add_elementwise(std::vector<Check>& checks, OperationKind kind, const Elementwise& c, std::string variant,
                     Make make, Exact exact) {
  if (c.in_place) variant += variant.empty() ? "in place" : ", in place";
  add_check(checks, {kind, Format::f32, c.rows, c.cols, c.rows, std::move(variant)},
            [=](Backend& b, Placement& p) { return run(c, make, exact, b, p); });
}

std::vector<Elementwise> shapes(bool quick, bool may_be_in_place) {
  std::vector<Elementwise> list;
  for (int64_t cols : odd_lengths(quick)) list.push_back({3, cols, cols % 4});
  if (may_be_in_place) list.push_back({4, 300, 3, true});
  list.push_back({2, 260, 0, false, 1e-20f});
  list.push_back({2, 260, 0, false, 30.0f});
  list.push_back({2, 260, 0, false, 1e5f});
  return list;
}

Value rounded(double exact, double roundings) { return {exact, gamma(roundings) * std::fabs(exact) + 0x1p-149}; }

}  // namespace

std::vector<Check> gated_activation_checks(bool quick) {
  std::vector<Check> checks;
  for (Activation activation : {Activation::silu, Activation::gelu_tanh})
    for (const Elementwise& c : shapes(quick, false))
      add_elementwise(
          checks, OperationKind::gated_activation, c, activation == Activation::silu ? "silu" : "gelu_tanh",
          [=](const ArrayView& a, const ArrayView& b, const ArrayView& y) {
            return GatedActivation{a, b, activation, y, nullptr};
          },
          [=](double a, double b) {
            return gated(activation, {a, 0}, {b, 0});
          });
  return checks;
}

std::vector<Check> add_checks(bool quick) {
  std::vector<Check> checks;
  for (const Elementwise& c : shapes(quick, true))
    add_elementwise(
        checks, OperationKind::add, c, "",
        [](const ArrayView& a, const ArrayView& b, const ArrayView& y) {
          return Add{a, b, y};
        },
        [](double a, double b) { return rounded(a + b, 1); });
  return checks;
}

std::vector<Check> scale_checks(bool quick) {
  std::vector<Check> checks;
  const float factor = -1.7f;
  for (const Elementwise& c : shapes(quick, true))
    add_elementwise(
        checks, OperationKind::scale, c, "",
        [=](const ArrayView& a, const ArrayView&, const ArrayView& y) {
          return Scale{a, factor, y};
        },
        [=](double a, double) { return rounded(a * double(factor), 1); });
  return checks;
}

// y = cap tanh(x / cap): the quotient's rounding moves tanh by at most as much (t / tanh(t) (1 - tanh^2) <= 1), the
// function itself is good to 2 ulp, the product rounds: 6 u, and one more for what is of second order.
std::vector<Check> soft_cap_checks(bool quick) {
  std::vector<Check> checks;
  const float cap = 30.0f;
  for (const Elementwise& c : shapes(quick, true))
    add_elementwise(
        checks, OperationKind::soft_cap, c, "",
        [=](const ArrayView& a, const ArrayView&, const ArrayView& y) {
          return SoftCap{a, cap, y};
        },
        [=](double a, double) { return rounded(double(cap) * std::tanh(a / double(cap)), 7); });
  return checks;
}

// One device: every value as it was.
std::vector<Check> all_reduce_checks(bool quick) {
  std::vector<Check> checks;
  for (const Elementwise& c : shapes(quick, true)) {
    if (!c.in_place) continue;
    add_elementwise(
        checks, OperationKind::all_reduce, c, "one device",
        [](const ArrayView&, const ArrayView&, const ArrayView& y) { return AllReduce{y}; },
        [](double a, double) {
          return Value{a, 0};
        });
  }
  return checks;
}

}  // namespace soffit::checker
