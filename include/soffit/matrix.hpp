// Matrices of weights as bytes: what they are, where they lie, and block-aligned pieces of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "soffit/format.hpp"
#include "soffit/status.hpp"

namespace soffit {

// What the bytes of a weight matrix are: `experts` matrices of rows x cols, row after row, as a GGUF tensor of shape
// [cols, rows, experts]. Sizes are 64-bit; cols is a multiple of the format's block.
struct MatrixDescription {
  Format format = Format::f32;
  int64_t rows = 0, cols = 0, experts = 1;
};
// Bytes of all experts, or an error that names the numbers.
Result<uint64_t> matrix_bytes(const MatrixDescription& matrix);

// Where they lie: row r of expert e begins at byte e * expert_stride + r * row_stride. A stride of 0 leaves no gap.
struct MatrixSource {
  std::span<const std::byte> bytes;
  uint64_t row_stride = 0, expert_stride = 0;  // bytes
};
// The same with the strides as numbers, checked: no row is shorter than its columns, and each lies inside the bytes.
// Where there are no gaps the bytes are exactly those of the matrix.
Result<MatrixSource> resolve(const MatrixDescription& matrix, const MatrixSource& source);

// A piece of a matrix, a matrix itself: its source points into the whole's bytes. Shards may be taken of shards.
struct MatrixShard {
  MatrixDescription matrix;
  MatrixSource source;
};
// Rows [first, first + count) of every expert.
Result<MatrixShard> row_shard(const MatrixDescription& whole, const MatrixSource& source, int64_t first, int64_t count);
// Columns [first, first + count) of every row: whole blocks of the format. The products of all column shards add up to
// the whole's.
Result<MatrixShard> column_shard(const MatrixDescription& whole, const MatrixSource& source, int64_t first,
                                 int64_t count);
Result<MatrixShard> expert_shard(const MatrixDescription& whole, const MatrixSource& source, int64_t first,
                                 int64_t count);

}  // namespace soffit
