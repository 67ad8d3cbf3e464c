#include "metal/linear_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "check/bounds.hpp"
#include "check/decoded.hpp"
#include "check/product.hpp"
#include "check/random.hpp"
#include "core/half.hpp"
#include "metal/offsets.hpp"

namespace soffit::metal {
namespace {

// TQ1_0. Five digits of a TQ1_0 byte are folded into F(k) (y(k-1) - 3 y(k)) for k = 1 … 4, F(5) y(4) and the sum of y,
// with F(k) = floor(3^k byte / 256). So the terms are larger than the products of digits that they add up to. Each has
// at most four roundings of its own (of the coefficient, and of the product with the scale), and there are fewer than 2
// for each column.
double floors_bound(std::span<const std::byte> row, std::span<const double> x) {
  double terms = 0;
  for (size_t block = 0; block * 256 < x.size(); ++block) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(row.data()) + block * 54;
    const double* y = x.data() + block * 256;
    double sum = 0;
    for (size_t b = 0; b < 52; ++b) {
      const size_t first = b < 32 ? b : b < 48 ? 160 + b - 32 : 240 + b - 48, distance = b < 32 ? 32 : b < 48 ? 16 : 4;
      double of[6] = {};
      for (size_t n = 0; n < (b < 48 ? 5u : 4u); ++n) of[n] = std::fabs(y[first + n * distance]);
      double power = 1;
      for (size_t k = 1; k <= 5; ++k) {
        power *= 3;
        sum += std::floor(power * bytes[b] / 256) * (of[k - 1] + 3 * of[k]) + of[k - 1];
      }
    }
    terms += sum * std::fabs(half_to_float(uint16_t(bytes[52] | bytes[53] << 8)));
  }
  return checker::gamma(2 * double(x.size()) + 4) * terms;
}

// Kernels that add up (code + offset) times scale and activation, and take the offset off again: what is added and what
// is taken off are terms both.
double offsets_bound(Format format, const checker::DecodedRow& decoded, std::span<const double> x) {
  const size_t block = info(format).block_elements;
  double terms = 0;
  for (size_t k = 0; k < x.size(); ++k)
    terms += (decoded.magnitude[k] + decoded.step[k] * code_offset(format, k % block)) * std::fabs(x[k]);
  return checker::gamma(2 * double(x.size()) + 4) * terms;
}

// Weights rounded to fp16: by 2^-11, or half the smallest subnormal, which the sums' roundings follow.
double rounding_bound(const checker::DecodedRow& decoded, std::span<const double> x) {
  double moved = 0;
  for (size_t k = 0; k < x.size(); ++k)
    moved += std::max(std::fabs(decoded.weight[k]) * 0x1p-11, 0x1p-25) * std::fabs(x[k]);
  return moved * (1 + checker::gamma(double(x.size()) + 2));
}

}  // namespace

Result<LinearProblem> LinearProblem::random(Format format, const LinearShape& shape, DataType type, uint64_t seed,
                                            checker::Blocks blocks) {
  SOFFIT_TRY(auto buffers, LinearBuffers::create(format, shape, type));
  LinearProblem problem(format, shape, type, std::move(buffers));
  SOFFIT_TRY(problem.row_bytes_, row_bytes(format, int64_t(shape.cols)));
  checker::Random random(seed);
  for (uint64_t r = 0; r < shape.rows; ++r) checker::fill_blocks(format, blocks, random, problem.row(r));
  for (uint64_t v = 0; v < shape.n; ++v) {
    for (uint64_t k = 0; k < shape.cols; ++k) problem.set_x(v, k, random.normal());
  }
  problem.forget_results();
  return problem;
}

std::span<std::byte> LinearProblem::row(uint64_t r) const {
  const uint64_t stride = shape_.row_bytes ? shape_.row_bytes : uint64_t(row_bytes_);
  return buffers_.weights.span().subspan(size_t(r * stride), size_t(row_bytes_));
}
uint64_t LinearProblem::x_at(uint64_t vector, uint64_t column) const {
  return vector * (shape_.x_stride ? shape_.x_stride : shape_.cols) + column;
}
uint64_t LinearProblem::y_at(uint64_t vector, uint64_t row) const {
  return vector * (shape_.y_stride ? shape_.y_stride : shape_.rows) + row;
}

float LinearProblem::get(const lanes::DeviceMemory& memory, uint64_t at) const {
  if (type_ == DataType::f16) return half_to_float(reinterpret_cast<const uint16_t*>(memory.data())[at]);
  return reinterpret_cast<const float*>(memory.data())[at];
}
void LinearProblem::set(const lanes::DeviceMemory& memory, uint64_t at, float value) {
  if (type_ == DataType::f16) {
    reinterpret_cast<uint16_t*>(memory.data())[at] = float_to_half(value);
  } else {
    reinterpret_cast<float*>(memory.data())[at] = value;
  }
}

std::vector<float> LinearProblem::results() const {
  std::vector<float> all;
  for (uint64_t v = 0; v < shape_.n; ++v) {
    for (uint64_t r = 0; r < shape_.rows; ++r) all.push_back(y(v, r));
  }
  return all;
}
void LinearProblem::forget_results() { std::memset(buffers_.y.data(), 0xff, size_t(buffers_.y.bytes())); }

checker::ActivationRow LinearProblem::activations(uint64_t vector) const {
  std::vector<float> values(shape_.cols);
  for (uint64_t k = 0; k < shape_.cols; ++k) values[k] = x(vector, k);
  return checker::ActivationRow(std::span<const float>(values), 0);
}

checker::Value LinearProblem::value(Terms terms, uint64_t r, const checker::DecodedRow& decoded,
                                    const checker::ActivationRow& activations) const {
  checker::Value value = checker::product(format_, {}, decoded, activations);
  if (terms == Terms::floors) value.bound = floors_bound(row(r), activations.x);
  if (terms == Terms::offsets) value.bound = offsets_bound(format_, decoded, activations.x);
  if (terms == Terms::rounded && type_ == DataType::f16) value.bound += rounding_bound(decoded, activations.x);
  return value;
}

checker::Value LinearProblem::value(Terms terms, uint64_t r, uint64_t vector) const {
  return value(terms, r, checker::decode_row(format_, row(r), true), activations(vector));
}

WorstResult LinearProblem::worst_result(Terms terms) const {
  std::vector<checker::ActivationRow> vectors;
  for (uint64_t v = 0; v < shape_.n; ++v) vectors.push_back(activations(v));
  WorstResult worst;
  double errors = 0, squares = 0;
  for (uint64_t r = 0; r < shape_.rows; ++r) {
    const checker::DecodedRow decoded = checker::decode_row(format_, row(r), true);
    for (uint64_t v = 0; v < shape_.n; ++v) {
      const checker::Value value = this->value(terms, r, decoded, vectors[v]);
      const double ratio = checker::error_over_bound(y(v, r), type_, value);
      if (!(ratio <= worst.error_over_bound)) worst = {ratio, r, v, y(v, r), value.exact};
      if (std::isnan(ratio)) return worst;
      errors += (y(v, r) - value.exact) * (y(v, r) - value.exact);
      squares += value.exact * value.exact;
    }
  }
  worst.nmse = squares > 0 ? errors / squares : 0;
  return worst;
}

}  // namespace soffit::metal
