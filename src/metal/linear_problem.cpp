#include "metal/linear_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "check/bounds.hpp"
#include "check/decoded.hpp"
#include "check/product.hpp"
#include "check/random.hpp"
#include "core/half.hpp"
#include "formats/packing.hpp"
#include "formats/q3_k.hpp"

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
// is taken off are terms both. The offsets are those that the kernels' heads tell of, in units of a code; a code of
// TQ1_0 and TQ2_0 is 1 more than its weight.
double offsets_bound(Format format, std::span<const std::byte> row, std::span<const double> x) {
  double terms = 0;
  const FormatInfo& f = info(format);
  for (size_t k = 0; k < x.size(); ++k) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(row.data()) + k / f.block_elements * f.block_bytes;
    const auto half_at = [&](size_t at) { return std::fabs(half_to_float(uint16_t(bytes[at] | bytes[at + 1] << 8))); };
    const size_t i = k % f.block_elements;
    double scale = 0, minimum = 0, largest = 0;  // largest: code + offset, and the offset again
    if (format == Format::q4_k) {
      const auto packed = scale_and_minimum(bytes + 4, int(i / 32));
      scale = double(half_at(0)) * packed.scale;
      minimum = double(half_at(2)) * packed.minimum;
      largest = i / 32 % 2 ? 15 + 2 * 32 : 15 + 2 * 512;
    } else if (format == Format::q5_k) {
      const auto packed = scale_and_minimum(bytes + 4, int(i / 32));
      scale = double(half_at(0)) * packed.scale;
      minimum = double(half_at(2)) * packed.minimum;
      // The nibble's offset, and that of the fifth bit, which stands at 4 or 8 times 4^part and counts 16.
      largest = 31 + 2 * (i / 32 % 2 ? 32 : 512) + 2 * 16 * 1024 / double((i / 32 % 2 ? 8 : 4) << 2 * (i / 64));
    } else if (format == Format::q6_k) {
      scale = half_at(208) * std::fabs(double(int8_t(bytes[192 + i / 16])));
      largest = i % 128 < 64 ? 63 + 1024 + 1056 : 63 + 64 + 96;
    } else if (format == Format::q8_0) {
      scale = half_at(0);
      largest = 128 + 2 * 1152;
    } else if (format == Format::tq1_0) {
      scale = half_at(52);
      largest = 2 + 2 * 5;
    } else if (format == Format::q4_0 || format == Format::q4_1) {
      scale = half_at(0);
      minimum = format == Format::q4_1 ? half_at(2) : 0;
      largest = 15 + 2 * ((i < 16 ? 512 : 32) + 8);
    } else if (format == Format::q5_0 || format == Format::q5_1) {
      scale = half_at(0);
      minimum = format == Format::q5_1 ? half_at(2) : 0;
      largest = 31 + 2 * (64 + 16);
    } else if (format == Format::q2_k) {
      scale = half_at(80) * (bytes[i / 16] & 15);
      minimum = half_at(82) * (bytes[i / 16] >> 4);
      largest = 3 + 2 * 1024 / double(4 << 2 * (i % 128 / 32));
    } else if (format == Format::q3_k) {
      // The twos' offset and the 4, and that of the third bit, which stands at 4 or 64 times 2^n and counts 4.
      scale = half_at(108) * std::fabs(double(Q3_K::scale(*reinterpret_cast<const BlockQ3_K*>(bytes), int(i / 16))));
      largest = 7 + 2 * (1024 / double(4 << 2 * (i % 128 / 32)) + 4) +
                2 * 4 * 1024 / double((i < 128 ? 4 : 64) << i % 128 / 32);
    } else {
      scale = half_at(64);
      largest = 3 + 2 * (1024 / double(4 << 2 * (i % 128 / 32)) + 1);
    }
    terms += (scale * largest + minimum) * std::fabs(x[k]);
  }
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
  if (terms == Terms::offsets) value.bound = offsets_bound(format_, row(r), activations.x);
  if (terms == Terms::rounded && type_ == DataType::f16) value.bound += rounding_bound(decoded, activations.x);
  return value;
}

checker::Value LinearProblem::value(Terms terms, uint64_t r, uint64_t vector) const {
  return value(terms, r, checker::decode_row(format_, row(r)), activations(vector));
}

WorstResult LinearProblem::worst_result(Terms terms) const {
  std::vector<checker::ActivationRow> vectors;
  for (uint64_t v = 0; v < shape_.n; ++v) vectors.push_back(activations(v));
  WorstResult worst;
  double errors = 0, squares = 0;
  for (uint64_t r = 0; r < shape_.rows; ++r) {
    const checker::DecodedRow decoded = checker::decode_row(format_, row(r));
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
