// What kernels of src/metal do by ids, on the lanes: products with experts, and rows of a matrix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "metal/linear_problem.hpp"

namespace soffit::metal {

struct LinearIdShape {
  uint64_t rows = 1, cols = 256, tokens = 1;  // rows of an expert
  uint64_t experts = 1, used = 1;
  bool per_slot = false;
  uint64_t x_stride = 0, y_stride = 0;  // elements
  uint64_t slots() const { return tokens * used; }
};

// Random experts, activations and ids; all experts are one matrix below the other.
class LinearIdProblem {
 public:
  static Result<LinearIdProblem> random(Format format, const LinearIdShape& shape, DataType type, uint64_t seed);

  std::span<int32_t> ids() const { return {reinterpret_cast<int32_t*>(ids_.data()), size_t(shape_.slots())}; }
  const LinearIdShape& shape() const { return shape_; }
  const LinearProblem& experts() const { return experts_; }
  float y(uint64_t slot, uint64_t row) const;
  std::vector<float> results() const;
  void forget_results();
  // Slots whose ids are no expert have to be as forget_results() left them.
  WorstResult worst_result(Terms terms) const;

  // The place of the first id that is no expert, as check_ids finds it; none when all are.
  Result<std::optional<uint64_t>> first_bad_id(const LaneOptions& options) const;
  Result<lanes::Outcome> run(const Variant& variant, const Tuning& tuning, const LaneOptions& options) const;

 private:
  LinearIdProblem(Format format, const LinearIdShape& shape, DataType type, LinearProblem experts)
      : format_(format), shape_(shape), type_(type), experts_(std::move(experts)) {}
  uint64_t y_stride() const { return shape_.y_stride ? shape_.y_stride : shape_.rows; }
  // Counts of slots and slots, by expert; see group_slots.
  Result<lanes::Outcome> group(const lanes::DeviceMemory& counts, const lanes::DeviceMemory& slots,
                               const LaneOptions& options) const;

  Format format_;
  LinearIdShape shape_;
  DataType type_;
  LinearProblem experts_;
  lanes::DeviceMemory ids_, y_;
};

struct Rows {
  std::vector<float> values;  // row after row; NaN where there is no such row
  lanes::Outcome outcome;
};
// scale * rows `ids` of a matrix of `bytes`, each row `row_stride` after the last; results have gaps of y_gap elements.
Result<Rows> run_get_rows(const Variant& variant, DataType type, std::span<const std::byte> bytes, uint64_t cols,
                          uint64_t row_stride, std::span<const int32_t> ids, float scale, uint64_t y_gap,
                          const LaneOptions& options);

}  // namespace soffit::metal
