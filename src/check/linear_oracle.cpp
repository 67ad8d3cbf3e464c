// The exact results of a product, from decoded weights and unrounded activations, with their bounds.
#include <algorithm>

#include "check/linear_case.hpp"
#include "check/product.hpp"

namespace soffit::checker {
namespace {

std::vector<ActivationRow> activation_rows(std::span<const float> x, int64_t cols, int activation_block) {
  std::vector<ActivationRow> rows;
  for (size_t at = 0; at < x.size(); at += size_t(cols))
    rows.emplace_back(x.subspan(at, size_t(cols)), activation_block);
  return rows;
}

}  // namespace

// Results of all parts: (slots, matrix rows).
std::vector<Value> LinearProblem::products(const std::vector<Arithmetic>& arithmetic) const {
  const int64_t all_rows = matrix_rows();
  std::vector<Value> values(slots_.size() * size_t(all_rows));
  std::map<int64_t, std::vector<size_t>> slots_of;  // by expert
  for (size_t s = 0; s < slots_.size(); ++s) slots_of[slots_[s].expert].push_back(s);
  int64_t offset = 0;
  for (size_t p = 0; p < case_.parts.size(); ++p) {
    const auto& part = case_.parts[p];
    const auto x = activation_rows(x_, case_.cols, arithmetic[p].activation_block);
    for (const auto& [expert, slots] : slots_of)
      for (int64_t r = 0; r < part.rows; ++r) {
        const DecodedRow w = decode_row(part.format, row(p, expert, r), arithmetic[p].has_offset());
        for (size_t s : slots)
          values[s * size_t(all_rows) + size_t(offset + r)] =
              product(part.format, arithmetic[p], w, x[size_t(slots_[s].x_row)]);
      }
    offset += part.rows;
  }
  return values;
}

// `products`: those of one slot.
Value LinearProblem::finish(std::span<const Value> products, int64_t slot, int64_t result_row) const {
  const auto linear = [&](int64_t row) {
    Value v = products[size_t(row)];
    if (case_.scale != 1) v = scaled(v, case_.scale);
    if (case_.bias) v = plus(v, bias_[size_t(row)]);
    return v;
  };
  Value v = linear(result_row);
  if (case_.gate != Activation::none) v = gated(case_.gate, v, linear(result_row + result_rows()));
  if (case_.residual != Residual::none) v = plus(v, residual_[size_t(slot * result_rows() + result_row)]);
  return v;
}

const std::vector<Value>& LinearProblem::expected(const std::vector<Arithmetic>& arithmetic) {
  auto& values = expected_[arithmetic];
  if (!values.empty()) return values;
  const auto all = products(arithmetic);
  const auto of_slot = size_t(matrix_rows());
  for (size_t s = 0; s < slots_.size(); ++s)
    for (int64_t r = 0; r < result_rows(); ++r)
      values.push_back(finish(std::span(all).subspan(s * of_slot, of_slot), int64_t(s), r));
  return values;
}

}  // namespace soffit::checker
