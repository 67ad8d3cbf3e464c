// A matrix cut in two: what the pieces give against what the whole gives. The products of two column shards add up to
// the whole's, within their bounds; rows and experts are the same bits in a piece as in the whole.
#pragma once

#include <string>
#include <vector>

#include "check/arrays.hpp"
#include "check/blocks.hpp"

namespace soffit::checker {

enum class Cut : uint8_t { rows, columns, experts };

struct ShardCase {
  Format format = Format::f32;
  int64_t rows = 0, cols = 0, n = 1;
  int64_t experts = 0;  // 0: linear
  Cut cut = Cut::rows;
  int64_t at = 0;  // rows, columns or experts of the first piece
  Layout layout = Layout::automatic;
  uint64_t seed = 1;
};

class ShardProblem {
 public:
  explicit ShardProblem(ShardCase c);
  Subject subject() const;
  Outcome run(Backend& backend, Placement& placement) const;

 private:
  struct Machine;
  struct Piece;
  MatrixDescription whole() const {
    return {case_.format, case_.rows, case_.cols, std::max<int64_t>(1, case_.experts)};
  }
  MatrixSource source() const { return {weights_}; }
  Result<MatrixShard> half(int which) const;
  Result<Piece> make_piece(const Machine& machine, const MatrixShard& shard, const ArrayView& x,
                           int64_t ids_from) const;
  Operation product(const Piece& piece, const ArrayView& y, const ArrayView& residual) const;
  // The exact sums of both column shards with their bounds.
  Result<std::vector<Value>> expected(const Arithmetic& arithmetic) const;
  Result<Outcome> check_sum(const Machine& machine, const Arithmetic& arithmetic) const;
  Result<Outcome> check_bits(const Machine& machine) const;
  Result<Outcome> attempt(Backend& backend, Placement& placement) const;

  ShardCase case_;
  std::vector<std::byte> weights_;
  std::vector<float> x_;
  std::vector<int32_t> ids_;  // of each row one
};

}  // namespace soffit::checker
