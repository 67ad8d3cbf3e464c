// The loop of the mat-vec kernels: rows, blocks, the reduction and the store. What a format has to do is a Part:
//
//   kColumns, kBytes  of a block
//   kParts            lanes that share a block; a simdgroup takes 32 / kParts blocks of each of its rows a step
//   kFactor           of results, where that is cheaper than in every block
//   load(x, part)     takes the part's columns of a block's activations, and what depends on them alone: rows share it
//   add_row(bytes, part, sum)  adds the product with the part of a row's block
//
// A Part that looks codes up has add_row(bytes, part, table, sum) with table[byte], the values of both nibbles of a
// byte.
//
// Function constants: simdgroups of a threadgroup, rows of a simdgroup.
#ifndef SOFFIT_METAL_LINEAR_H
#define SOFFIT_METAL_LINEAR_H

#include "metal/arguments.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

namespace soffit {

struct NoTable {};

template <typename Part>
inline void add_row(thread const Part& columns, device const uchar* bytes, ushort part, NoTable, thread float& sum) {
  columns.add_row(bytes, part, sum);
}
template <typename Part>
inline void add_row(thread const Part& columns, device const uchar* bytes, ushort part, threadgroup const half2* table,
                    thread float& sum) {
  columns.add_row(bytes, part, table, sum);
}

// One column x of activations, one y of results.
template <typename Part, typename X, typename Y, typename Table>
inline void linear_rows(constant LinearArguments& arguments, device const uchar* weights, device const X* x,
                        device Y* y, Table table, uint group, ushort lane, ushort simdgroup) {
  const ushort part = lane % Part::kParts;
  const uint blocks = arguments.cols / Part::kColumns;
  const uint first_row = (group * kSimdgroups + simdgroup) * kRows;

  float result[kMostRows] = {0.0f};
  for (uint block = lane / Part::kParts; block < blocks; block += 32 / Part::kParts) {
    Part columns;
    columns.load(x + block * Part::kColumns, part);
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // rows behind the last read it again
      add_row(columns, weights + row * arguments.row_bytes + block * Part::kBytes, part, table, result[r]);
    }
  }
  for (ushort r = 0; r < kRows; ++r) {
    float sum = simd_sum(result[r]);
    if (Part::kFactor != 1.0f) sum *= Part::kFactor;
    if (lane == 0 && first_row + r < arguments.rows) y[first_row + r] = Y(sum);
  }
}

// Of a threadgroup: table[byte] has values[low nibble] and values[high nibble].
inline void fill_table(threadgroup half2* table, constant int8_t* values, ushort lane, ushort simdgroup) {
  for (ushort i = simdgroup * 32 + lane; i < 256; i += 32 * kSimdgroups) {
    table[i] = half2(half(values[i % 16]), half(values[i / 16]));
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}

}  // namespace soffit

#define SOFFIT_TEXT_(text) #text
#define SOFFIT_TEXT(text) SOFFIT_TEXT_(text)

// The kernels linear_NAME and linear_id_NAME, each with _f32 and _f16 behind, by the type of activations and results.
// LOOP is what does a simdgroup's rows, TABLE declares `table`.
#define SOFFIT_LINEAR_KERNELS(NAME, LOOP, PART, TABLE)                                                                 \
  template <typename X, typename Y>                                                                                    \
  kernel void linear_##NAME(                                                                                           \
      constant soffit::LinearArguments& arguments [[buffer(0)]], device const uchar* weights [[buffer(1)]],            \
      device const X* x [[buffer(2)]], device Y* y [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],        \
      ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]]) {                \
    TABLE                                                                                                              \
    soffit::LOOP<soffit::PART<X>, X, Y>(arguments, weights, x + group.y * arguments.x_stride,                          \
                                        y + group.y * arguments.y_stride, table, group.x, lane, simdgroup);            \
  }                                                                                                                    \
  template <typename X, typename Y>                                                                                    \
  kernel void linear_id_##NAME(                                                                                        \
      constant soffit::LinearIdArguments& arguments [[buffer(0)]], device const uchar* weights [[buffer(1)]],          \
      device const X* x [[buffer(2)]], device Y* y [[buffer(3)]], device const int* ids [[buffer(4)]],                 \
      uint3 group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]],                         \
      ushort simdgroup [[simdgroup_index_in_threadgroup]]) {                                                           \
    const int id = ids[group.y];                                                                                       \
    if (id < 0 || uint(id) >= arguments.experts) return; /* the whole threadgroup */                                   \
    TABLE                                                                                                              \
    const uint from = arguments.per_slot ? group.y : group.y / arguments.used;                                         \
    soffit::LOOP<soffit::PART<X>, X, Y>(arguments.linear, weights + uint(id) * arguments.expert_bytes,                 \
                                        x + from * arguments.linear.x_stride, y + group.y * arguments.linear.y_stride, \
                                        table, group.x, lane, simdgroup);                                              \
  }                                                                                                                    \
  SOFFIT_LINEAR_INSTANCES(NAME, f32, float)                                                                            \
  SOFFIT_LINEAR_INSTANCES(NAME, f16, half)

#define SOFFIT_LINEAR_INSTANCES(NAME, TYPE_NAME, TYPE)                                                               \
  template [[host_name(SOFFIT_TEXT(linear_##NAME##_##TYPE_NAME))]] kernel void linear_##NAME<TYPE, TYPE>(            \
      constant soffit::LinearArguments&, device const uchar*, device const TYPE*, device TYPE*, uint3, ushort,       \
      ushort);                                                                                                       \
  template [[host_name(SOFFIT_TEXT(linear_id_##NAME##_##TYPE_NAME))]] kernel void linear_id_##NAME<TYPE, TYPE>(      \
      constant soffit::LinearIdArguments&, device const uchar*, device const TYPE*, device TYPE*, device const int*, \
      uint3, ushort, ushort);

#define SOFFIT_LINEAR_KERNEL(NAME, PART) \
  SOFFIT_LINEAR_KERNELS(NAME, linear_rows, PART, const soffit::NoTable table = {};)

// VALUES: the 16 numbers of which PART wants a table.
#define SOFFIT_LINEAR_TABLE_KERNEL(NAME, PART, VALUES)                         \
  SOFFIT_LINEAR_KERNELS(NAME, linear_rows, PART, threadgroup half2 space[256]; \
                        soffit::fill_table(space, VALUES, lane, simdgroup); threadgroup const half2* table = space;)

#endif  // SOFFIT_METAL_LINEAR_H
