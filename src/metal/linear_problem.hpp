// A product with random data for a kernel of src/metal on the lanes, and how far the results are from the exact ones.
#pragma once

#include <span>
#include <vector>

#include "check/blocks.hpp"
#include "check/bounds.hpp"
#include "check/product.hpp"
#include "metal/lane_linear.hpp"

namespace soffit::metal {

struct WorstResult {
  double error_over_bound = 0;  // above 1, or NaN, is a fault
  uint64_t row = 0, vector = 0;
  double result = 0, exact = 0;
  double nmse = 0;  // of all results: squared errors over squared exact results
  bool right() const { return error_over_bound <= 1; }
};

class LinearProblem {
 public:
  // Random blocks and N(0, 1); results are NaN until they are written.
  static Result<LinearProblem> random(Format format, const LinearShape& shape, DataType type, uint64_t seed,
                                      checker::Blocks blocks = checker::Blocks::random);

  const LinearShape& shape() const { return shape_; }
  const LinearBuffers& buffers() const { return buffers_; }
  std::span<std::byte> row(uint64_t r) const;
  float x(uint64_t vector, uint64_t column) const { return get(buffers_.x, x_at(vector, column)); }
  void set_x(uint64_t vector, uint64_t column, float value) { set(buffers_.x, x_at(vector, column), value); }
  float y(uint64_t vector, uint64_t row) const { return get(buffers_.y, y_at(vector, row)); }
  std::vector<float> results() const;
  void forget_results();

  // The bound is that of check/bounds.hpp, or derived for the terms that the kernel adds up.
  WorstResult worst_result(Terms terms) const;
  // The exact product of a row and a vector.
  checker::Value value(Terms terms, uint64_t row, uint64_t vector) const;

 private:
  LinearProblem(Format format, const LinearShape& shape, DataType type, LinearBuffers buffers)
      : format_(format), shape_(shape), type_(type), buffers_(std::move(buffers)) {}
  uint64_t x_at(uint64_t vector, uint64_t column) const;
  uint64_t y_at(uint64_t vector, uint64_t row) const;
  checker::ActivationRow activations(uint64_t vector) const;
  checker::Value value(Terms terms, uint64_t row, const checker::DecodedRow& decoded,
                       const checker::ActivationRow& activations) const;
  float get(const lanes::DeviceMemory& memory, uint64_t at) const;
  void set(const lanes::DeviceMemory& memory, uint64_t at, float value);

  Format format_;
  LinearShape shape_;
  DataType type_;
  LinearBuffers buffers_;
  int64_t row_bytes_ = 0;  // of a row itself
};

}  // namespace soffit::metal
