// The loop of the mat-vec kernels: rows, blocks, the reduction and the store. What a format has to do is a Part:
//
//   kColumns, kBytes  of a block
//   kParts            lanes that share a block; a simdgroup takes 32 / kParts blocks of each of its rows a step
//   kFactor           of results, where that is cheaper than in every block
//   load(x, part)     takes the part's columns of a block's activations, and what depends on them alone: rows share it
//   add_row(bytes, part, sum)  adds the product with the part of a row's block
//
// Function constants: simdgroups of a threadgroup, rows of a simdgroup.
#ifndef SOFFIT_METAL_LINEAR_H
#define SOFFIT_METAL_LINEAR_H

#include "metal/arguments.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

namespace soffit {

template <typename Part, typename X, typename Y>
inline void linear_rows(constant LinearArguments& arguments, device const uchar* weights, device const X* x,
                        device Y* y, uint3 group, ushort lane, ushort simdgroup) {
  const ushort part = lane % Part::kParts;
  const uint blocks = arguments.cols / Part::kColumns;
  const uint first_row = (group.x * kSimdgroups + simdgroup) * kRows;
  device const X* vector = x + group.y * arguments.x_stride;

  float result[kMostRows] = {0.0f};
  for (uint block = lane / Part::kParts; block < blocks; block += 32 / Part::kParts) {
    Part columns;
    columns.load(vector + block * Part::kColumns, part);
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // rows behind the last read it again
      columns.add_row(weights + row * arguments.row_bytes + block * Part::kBytes, part, result[r]);
    }
  }
  for (ushort r = 0; r < kRows; ++r) {
    float sum = simd_sum(result[r]);
    if (Part::kFactor != 1.0f) sum *= Part::kFactor;
    if (lane == 0 && first_row + r < arguments.rows) y[group.y * arguments.y_stride + first_row + r] = Y(sum);
  }
}

}  // namespace soffit

#define SOFFIT_TEXT_(text) #text
#define SOFFIT_TEXT(text) SOFFIT_TEXT_(text)

// The kernels NAME_f32 and NAME_f16, by the type of activations and results.
#define SOFFIT_LINEAR_KERNEL(NAME, PART)                                                                             \
  template <typename X, typename Y>                                                                                  \
  kernel void NAME(constant soffit::LinearArguments& arguments [[buffer(0)]],                                        \
                   device const uchar* weights [[buffer(1)]], device const X* x [[buffer(2)]],                       \
                   device Y* y [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],                          \
                   ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]]) { \
    soffit::linear_rows<soffit::PART<X>, X, Y>(arguments, weights, x, y, group, lane, simdgroup);                    \
  }                                                                                                                  \
  template [[host_name(SOFFIT_TEXT(NAME##_f32))]] kernel void NAME<float, float>(                                    \
      constant soffit::LinearArguments&, device const uchar*, device const float*, device float*, uint3, ushort,     \
      ushort);                                                                                                       \
  template [[host_name(SOFFIT_TEXT(NAME##_f16))]] kernel void NAME<half, half>(                                      \
      constant soffit::LinearArguments&, device const uchar*, device const half*, device half*, uint3, ushort,       \
      ushort);

#endif  // SOFFIT_METAL_LINEAR_H
