// Arrays that a check gives to a backend, and results that it takes back: strided, of any type, surrounded by bytes
// that must stay as they are.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "check/bounds.hpp"
#include "check/outcome.hpp"
#include "check/placement.hpp"

namespace soffit::checker {

// An element as a view of this type stores it, and back. Widening is exact.
void store_element(DataType type, double value, std::byte* to);
double load_element(DataType type, const std::byte* from);

// How a matrix lies: `gap` elements between the end of a row and the next one.
struct ArrayShape {
  DataType type = DataType::f32;
  int64_t rows = 0, cols = 0, gap = 0;

  int64_t stride() const { return cols + gap; }
  uint64_t bytes() const { return rows == 0 ? 0 : uint64_t(((rows - 1) * stride() + cols) * size_of(type)); }
};

class InputArray {
 public:
  // `values` row after row, without gaps; what lies in the gaps is NaN.
  static Result<InputArray> create(Backend& backend, Placement& placement, const ArrayShape& shape,
                                   std::span<const float> values);
  static Result<InputArray> create(Backend& backend, Placement& placement, std::span<const int32_t> values,
                                   int64_t rows, int64_t cols);
  ArrayView view() const { return {buffer_.get(), 0, shape_.type, shape_.rows, shape_.cols, shape_.stride()}; }
  Buffer& buffer() { return *buffer_; }

 private:
  ArrayShape shape_;
  std::unique_ptr<Buffer> buffer_;
};

class ResultArray {
 public:
  // Every byte is 0xff at first, which is a NaN in each floating type: what is not written fails.
  static Result<ResultArray> create(Backend& backend, Placement& placement, const ArrayShape& shape);
  // Sets the results' elements, for operations in place.
  Status set(std::span<const float> values) const;
  ArrayView view() const { return {buffer_.get(), margin_, shape_.type, shape_.rows, shape_.cols, shape_.stride()}; }
  // Every element row after row, and whether every byte around them is as it was.
  Result<std::vector<double>> read() const;
  // Against exact values, one for each element.
  Outcome compare(std::span<const Value> expected) const;

 private:
  ArrayShape shape_;
  uint64_t margin_ = 0;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace soffit::checker
