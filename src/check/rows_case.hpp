// get_rows: exact, so that the only right result is the reference's, bit for bit.
#pragma once

#include "check/arrays.hpp"
#include "check/blocks.hpp"

namespace soffit::checker {

struct RowsCase {
  Format format = Format::f32;
  int64_t rows = 0, cols = 0, n = 1;
  Layout layout = Layout::automatic;
  Blocks blocks = Blocks::random;
  DataType y_type = DataType::f32;
  int64_t y_gap = 0;
  float scale = 1;
  uint64_t seed = 1;
};

class RowsProblem {
 public:
  explicit RowsProblem(RowsCase c);
  Subject subject() const;
  Outcome run(Backend& backend, Placement& placement) const;

 private:
  Result<Outcome> attempt(Backend& backend, Placement& placement) const;

  RowsCase case_;
  std::vector<std::byte> weights_;
  std::vector<int32_t> ids_;
  std::vector<Value> expected_;
};

}  // namespace soffit::checker
