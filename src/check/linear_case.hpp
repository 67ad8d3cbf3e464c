// One product to check: linear and linear_id, of any parts, layout, types, epilogue and values.
#pragma once

#include <map>

#include "check/arrays.hpp"
#include "check/blocks.hpp"
#include "check/values.hpp"

namespace soffit::checker {

enum class Residual : uint8_t { none, separate, in_place };
enum class Ids : uint8_t {
  random,    // of one token all different, as a router gives them
  repeated,  // any, so that an expert occurs several times for one token
  same,      // all the same
};

struct LinearCase {
  struct Part {
    Format format;
    int64_t rows;
  };
  std::vector<Part> parts;
  int64_t cols = 0, n = 1;
  int64_t experts = 0;  // 0: linear
  int64_t used = 1;
  bool per_slot = false;
  Ids ids = Ids::random;

  Layout layout = Layout::automatic;
  Blocks blocks = Blocks::random;
  Values values = Values::normal;
  DataType x_type = DataType::f32, y_type = DataType::f32;
  int64_t x_gap = 0, y_gap = 0;  // elements between rows

  float scale = 1;
  bool bias = false;
  Activation gate = Activation::none;
  Residual residual = Residual::none;
  uint64_t seed = 1;
};

// A case with its data. Exact results are computed once for all backends that round activations alike.
class LinearProblem {
 public:
  explicit LinearProblem(LinearCase c);
  Subject subject() const;
  Outcome run(Backend& backend, Placement& placement);

 private:
  struct Slot {
    int64_t expert, x_row;
  };
  struct Arrays;
  int64_t matrix_rows() const;
  int64_t result_rows() const { return case_.gate == Activation::none ? matrix_rows() : matrix_rows() / 2; }
  int64_t row_bytes(size_t part) const;
  std::span<const std::byte> row(size_t part, int64_t expert, int64_t row) const;
  Result<std::unique_ptr<Weights>> upload(Backend& backend, Placement& placement) const;
  Operation operation(const Weights& weights, const Activations& x, const Arrays& arrays) const;
  Result<Outcome> attempt(Backend& backend, Placement& placement);
  const std::vector<Value>& expected(const std::vector<Arithmetic>& arithmetic);
  std::vector<Value> products(const std::vector<Arithmetic>& arithmetic) const;
  Value finish(std::span<const Value> products, int64_t slot, int64_t result_row) const;

  LinearCase case_;
  std::vector<std::vector<std::byte>> weights_;  // of each part, expert after expert
  int64_t x_rows_ = 0;
  std::vector<float> x_;  // exact in x_type
  std::vector<int32_t> ids_;
  std::vector<Slot> slots_;  // one a row of results
  std::vector<float> bias_, residual_;
  std::map<std::vector<Arithmetic>, std::vector<Value>> expected_;
};

}  // namespace soffit::checker
