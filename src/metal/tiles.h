// Many columns of activations: tiles of 64 rows and 32 columns, 32 of K at a time, by four simdgroups with 32 rows and
// 16 columns each.
//
// Both operands stand in threadgroup memory as fragments of 8 x 8, whole ones one after the other, of the activations'
// type: fp32 activations are multiplied as fp32, of any size, and weights as the reference decodes them. With fp16
// activations weights are rounded to fp16, so that those above 65504 are infinite. Sums are fp32.
//
// What is behind the last row or column is read again and not stored; of K behind the end there are zeros.
#ifndef SOFFIT_METAL_TILES_H
#define SOFFIT_METAL_TILES_H

#include <metal_simdgroup_matrix>

#include "metal/arguments.h"

namespace soffit {

constant constexpr ushort kTileRows = 64, kTileColumns = 32, kTileDepth = 32, kTileThreads = 128;
constant constexpr ushort kFragment = 64;  // elements

// Which activations a column has, and where its results go.
struct AllColumns {
  uint from(uint column) const { return column; }
  uint to(uint column) const { return column; }
};
struct SlotColumns {  // those of an expert
  device const uint* slots;
  uint used;
  uint per_slot;
  uint from(uint column) const { return per_slot ? slots[column] : slots[column] / used; }
  uint to(uint column) const { return slots[column]; }
};

// Floats of threadgroup memory: both operands, afterwards the results.
template <typename X>
inline constexpr ushort tile_space() {
  return sizeof(X) == 4 ? (kTileRows + kTileColumns) * kTileDepth : kTileRows * kTileColumns;
}

template <typename Strips, typename X, typename Y, typename Columns>
inline void linear_tile(constant LinearArguments& arguments, uint n, device const uchar* weights, device const X* x,
                        device Y* y, threadgroup float* space, Columns columns, uint3 group, ushort lane,
                        ushort simdgroup) {
  threadgroup X* left = reinterpret_cast<threadgroup X*>(space);  // activations
  threadgroup X* right = left + kTileColumns * kTileDepth;        // weights
  const ushort thread_index = simdgroup * 32 + lane;
  const uint first_row = group.x * kTileRows, first_column = group.y * kTileColumns;
  const uint strips = (arguments.cols + 15) / 16;

  // A thread fills half of a row of weights, and a quarter of a column.
  const ushort own_row = thread_index / 2, own_strip = thread_index % 2;
  const ushort own_column = thread_index / 4, own_eight = thread_index % 4;
  const uint row = min(first_row + own_row, arguments.rows - 1), column = min(first_column + own_column, n - 1);
  device const uchar* row_bytes = weights + row * arguments.row_bytes;
  device const X* vector = x + columns.from(column) * arguments.x_stride;
  threadgroup X* to_right = right + (own_row / 8 * 4 + own_strip * 2) * kFragment + own_row % 8 * 8;
  threadgroup X* to_left = left + (own_column / 8 * 4 + own_eight) * kFragment + own_column % 8 * 8;

  const ushort row_fragments = simdgroup % 2 * 4, column_fragments = simdgroup / 2 * 2;
  simdgroup_float8x8 sums[2][4];
  for (ushort c = 0; c < 2; ++c) {
    for (ushort r = 0; r < 4; ++r) sums[c][r] = make_filled_simdgroup_matrix<float, 8>(0.0f);
  }
  for (uint depth = 0; depth < arguments.cols; depth += kTileDepth) {
    const uint strip = depth / 16 + own_strip;
    float decoded[16];
    if (strip < strips) {
      Strips::strip(row_bytes, strip, arguments.cols, decoded);
    } else {
      for (ushort i = 0; i < 16; ++i) decoded[i] = 0.0f;
    }
    for (ushort i = 0; i < 8; ++i) {
      to_right[i] = X(decoded[i]);
      to_right[kFragment + i] = X(decoded[8 + i]);
    }
    Strips::template activations<8>(vector, depth + 8 * own_eight, arguments.cols, to_left);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (ushort k = 0; k < 4; ++k) {
      simdgroup_matrix<X, 8, 8> activations[2], rows[4];
      for (ushort c = 0; c < 2; ++c)
        simdgroup_load(activations[c], left + ((column_fragments + c) * 4 + k) * kFragment, 8);
      for (ushort r = 0; r < 4; ++r) {
        simdgroup_load(rows[r], right + ((row_fragments + r) * 4 + k) * kFragment, 8, ulong2(0, 0), true);
      }
      for (ushort c = 0; c < 2; ++c) {
        for (ushort r = 0; r < 4; ++r) simdgroup_multiply_accumulate(sums[c][r], activations[c], rows[r], sums[c][r]);
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (ushort c = 0; c < 2; ++c) {
    for (ushort r = 0; r < 4; ++r) {
      simdgroup_store(sums[c][r], space + (column_fragments + c) * 8 * kTileRows + (row_fragments + r) * 8, kTileRows);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (ushort i = thread_index; i < kTileRows * kTileColumns; i += kTileThreads) {
    const uint to_row = first_row + i % kTileRows, to_column = first_column + i / kTileRows;
    if (to_row < arguments.rows && to_column < n) y[columns.to(to_column) * arguments.y_stride + to_row] = Y(space[i]);
  }
}

}  // namespace soffit

#endif  // SOFFIT_METAL_TILES_H
