// Few columns of activations: a strip of 16 weights is decoded once and multiplied with all of them.
//
// Eight lanes share kRows rows, of which they take strips in turn; a simdgroup has four times as many rows. Function
// constants as in linear.h, and the columns of a threadgroup, at most 8.
#ifndef SOFFIT_METAL_COLUMNS_H
#define SOFFIT_METAL_COLUMNS_H

#include "metal/arguments.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant ushort kBatch [[function_constant(2)]];
constant constexpr ushort kMostColumnRows = 2, kMostBatch = 8;

namespace soffit {

template <typename Strips, typename X, typename Y>
inline void linear_columns(constant LinearArguments& arguments, device const uchar* weights, device const X* x,
                           device Y* y, uint3 group, ushort lane, ushort simdgroup) {
  const ushort along = lane % 8;
  const uint strips = (arguments.cols + 15) / 16;
  const uint first_row = ((group.x * kSimdgroups + simdgroup) * 4 + lane / 8) * kRows;
  const uint first_column = group.y * kBatch;

  float sums[kMostColumnRows][kMostBatch] = {{0.0f}};
  for (uint strip = along; strip < strips; strip += 8) {
    float decoded[kMostColumnRows][16];
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // what is behind the last is read again
      Strips::strip(weights + row * arguments.row_bytes, strip, arguments.cols, decoded[r]);
    }
    for (ushort c = 0; c < kBatch; ++c) {
      const uint column = min(first_column + c, arguments.n - 1);
      X values[16];
      Strips::template activations<16>(x + column * arguments.x_stride, 16 * strip, arguments.cols, values);
      for (ushort r = 0; r < kRows; ++r) {
        for (ushort i = 0; i < 16; ++i) sums[r][c] += decoded[r][i] * values[i];
      }
    }
  }
  for (ushort r = 0; r < kRows; ++r) {
    for (ushort c = 0; c < kBatch; ++c) {
      float sum = sums[r][c];
      sum += simd_shuffle_xor(sum, 1);
      sum += simd_shuffle_xor(sum, 2);
      sum += simd_shuffle_xor(sum, 4);
      const uint row = first_row + r, column = first_column + c;
      if (along == 0 && row < arguments.rows && column < arguments.n) y[column * arguments.y_stride + row] = Y(sum);
    }
  }
}

}  // namespace soffit

#endif  // SOFFIT_METAL_COLUMNS_H
