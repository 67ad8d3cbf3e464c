// Products by kernels of src/metal on the lanes, and what they should be.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "check/blocks.hpp"
#include "check/bounds.hpp"
#include "check/decoded.hpp"
#include "check/product.hpp"
#include "check/values.hpp"
#include "core/half.hpp"
#include "metal/lane_linear.hpp"

namespace soffit::metal {

struct Problem {
  Format format;
  LinearShape shape;
  DataType type;
  LinearBuffers buffers;

  // Random blocks and N(0, 1); results are NaN until they are written.
  static Problem random(Format format, LinearShape shape, DataType type, uint64_t seed,
                        checker::Blocks blocks = checker::Blocks::random) {
    auto buffers = LinearBuffers::create(format, shape, type);
    EXPECT_TRUE(buffers) << buffers.error().message;
    Problem problem{format, shape, type, std::move(*buffers)};
    checker::Random random(seed);
    const int64_t row = *row_bytes(format, int64_t(shape.cols));
    for (uint64_t r = 0; r < shape.rows; ++r) checker::fill_blocks(format, blocks, random, problem.row(r, row));
    for (uint64_t c = 0; c < shape.n; ++c) {
      for (uint64_t k = 0; k < shape.cols; ++k) problem.set_x(c, k, random.normal());
    }
    problem.forget_results();
    return problem;
  }

  std::span<std::byte> row(uint64_t r, int64_t bytes) const {
    const uint64_t stride = shape.row_bytes ? shape.row_bytes : uint64_t(bytes);
    return buffers.weights.span().subspan(size_t(r * stride), size_t(bytes));
  }
  std::span<const std::byte> row(uint64_t r) const { return row(r, *row_bytes(format, int64_t(shape.cols))); }
  uint64_t x_at(uint64_t c, uint64_t k) const { return c * (shape.x_stride ? shape.x_stride : shape.cols) + k; }
  uint64_t y_at(uint64_t c, uint64_t r) const { return c * (shape.y_stride ? shape.y_stride : shape.rows) + r; }

  void set_x(uint64_t c, uint64_t k, float value) { set(buffers.x, x_at(c, k), value); }
  float x(uint64_t c, uint64_t k) const { return get(buffers.x, x_at(c, k)); }
  float y(uint64_t c, uint64_t r) const { return get(buffers.y, y_at(c, r)); }
  void forget_results() { std::memset(buffers.y.data(), 0xff, size_t(buffers.y.bytes())); }
  std::vector<float> results() const {
    std::vector<float> all;
    for (uint64_t c = 0; c < shape.n; ++c) {
      for (uint64_t r = 0; r < shape.rows; ++r) all.push_back(y(c, r));
    }
    return all;
  }

 private:
  void set(const lanes::DeviceMemory& memory, uint64_t at, float value) {
    if (type == DataType::f16) {
      reinterpret_cast<uint16_t*>(memory.data())[at] = float_to_half(value);
    } else {
      reinterpret_cast<float*>(memory.data())[at] = value;
    }
  }
  float get(const lanes::DeviceMemory& memory, uint64_t at) const {
    if (type == DataType::f16) return half_to_float(reinterpret_cast<const uint16_t*>(memory.data())[at]);
    return reinterpret_cast<const float*>(memory.data())[at];
  }
};

// The largest error of a result over its bound, which is that of check/bounds.hpp, or derived for the way in which TQ1_0
// kernels sum.
double worst_error(const Problem& problem);

}  // namespace soffit::metal
