// The kernels of a format that decode strips of weights, each with _f32 and _f16 behind, by the type of activations and
// results:
//
//   linear_NAME_columns    for 2 … 8 columns: columns.h
//   linear_NAME_tiles      for many columns: tiles.h
//   linear_id_NAME_tiles   as that, for the slots of an expert that group_slots (ids.metal) has found
//   get_rows_NAME          rows as numbers, by id; an id that is no row leaves its place as it is, check_ids tells of
//   it
#ifndef SOFFIT_METAL_MATRIX_H
#define SOFFIT_METAL_MATRIX_H

#include "metal/columns.h"
#include "metal/tiles.h"

namespace soffit {

// A thread has a strip.
template <typename Strips, typename Y>
inline void get_row(constant GetRowsArguments& arguments, device const uchar* weights, device const int* ids,
                    device Y* y, uint strip, uint number) {
  const int id = ids[number];
  if (id < 0 || uint(id) >= arguments.rows || 16 * strip >= arguments.cols) return;
  float decoded[16];
  Strips::strip(weights + uint(id) * arguments.row_bytes, strip, arguments.cols, decoded);
  device Y* to = y + number * arguments.y_stride + 16 * strip;
  for (ushort i = 0; i < 16; ++i) {
    if (!Strips::kTails || 16 * strip + i < arguments.cols) to[i] = Y(decoded[i] * arguments.scale);
  }
}

}  // namespace soffit

#define SOFFIT_TEXT_(text) #text
#define SOFFIT_TEXT(text) SOFFIT_TEXT_(text)

#define SOFFIT_MATRIX_KERNELS(NAME)                                                                                  \
  template <typename X, typename Y>                                                                                  \
  kernel void linear_##NAME##_columns(                                                                               \
      constant soffit::LinearArguments& arguments [[buffer(0)]], device const uchar* weights [[buffer(1)]],          \
      device const X* x [[buffer(2)]], device Y* y [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],      \
      ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]]) {              \
    soffit::linear_columns<soffit::Strips, X, Y>(arguments, weights, x, y, group, lane, simdgroup);                  \
  }                                                                                                                  \
  template <typename X, typename Y>                                                                                  \
  kernel void linear_##NAME##_tiles(                                                                                 \
      constant soffit::LinearArguments& arguments [[buffer(0)]], device const uchar* weights [[buffer(1)]],          \
      device const X* x [[buffer(2)]], device Y* y [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],      \
      ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]]) {              \
    threadgroup float space[soffit::tile_space<X>()];                                                                \
    soffit::linear_tile<soffit::Strips, X, Y>(arguments, arguments.n, weights, x, y, space, soffit::AllColumns(),    \
                                              group, lane, simdgroup);                                               \
  }                                                                                                                  \
  template <typename X, typename Y>                                                                                  \
  kernel void linear_id_##NAME##_tiles(                                                                              \
      constant soffit::LinearIdArguments& arguments [[buffer(0)]], device const uchar* weights [[buffer(1)]],        \
      device const X* x [[buffer(2)]], device Y* y [[buffer(3)]], device const uint* counts [[buffer(4)]],           \
      device const uint* slots [[buffer(5)]], uint3 group [[threadgroup_position_in_grid]],                          \
      ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]]) {              \
    threadgroup float space[soffit::tile_space<X>()];                                                                \
    const uint n = counts[group.z];                                                                                  \
    if (group.y * soffit::kTileColumns >= n) return; /* the whole threadgroup */                                     \
    const soffit::SlotColumns columns = {slots + ulong(group.z) * arguments.linear.n, arguments.used,                \
                                         arguments.per_slot};                                                        \
    soffit::linear_tile<soffit::Strips, X, Y>(arguments.linear, n, weights + group.z * arguments.expert_bytes, x, y, \
                                              space, columns, group, lane, simdgroup);                               \
  }                                                                                                                  \
  template <typename Y>                                                                                              \
  kernel void get_rows_##NAME(constant soffit::GetRowsArguments& arguments [[buffer(0)]],                            \
                              device const uchar* weights [[buffer(1)]], device const int* ids [[buffer(2)]],        \
                              device Y* y [[buffer(3)]], uint3 position [[thread_position_in_grid]]) {               \
    soffit::get_row<soffit::Strips, Y>(arguments, weights, ids, y, position.x, position.y);                          \
  }                                                                                                                  \
  SOFFIT_MATRIX_INSTANCES(NAME, f32, float)                                                                          \
  SOFFIT_MATRIX_INSTANCES(NAME, f16, half)

#define SOFFIT_MATRIX_INSTANCES(NAME, TYPE_NAME, TYPE)                                                                 \
  template                                                                                                             \
      [[host_name(SOFFIT_TEXT(linear_##NAME##_columns_##TYPE_NAME))]] kernel void linear_##NAME##_columns<TYPE, TYPE>( \
          constant soffit::LinearArguments&, device const uchar*, device const TYPE*, device TYPE*, uint3, ushort,     \
          ushort);                                                                                                     \
  template                                                                                                             \
      [[host_name(SOFFIT_TEXT(linear_##NAME##_tiles_##TYPE_NAME))]] kernel void linear_##NAME##_tiles<TYPE, TYPE>(     \
          constant soffit::LinearArguments&, device const uchar*, device const TYPE*, device TYPE*, uint3, ushort,     \
          ushort);                                                                                                     \
  template [[host_name(SOFFIT_TEXT(linear_id_##NAME##_tiles_##TYPE_NAME))]] kernel void                                \
      linear_id_##NAME##_tiles<TYPE, TYPE>(constant soffit::LinearIdArguments&, device const uchar*,                   \
                                           device const TYPE*, device TYPE*, device const uint*, device const uint*,   \
                                           uint3, ushort, ushort);                                                     \
  template [[host_name(SOFFIT_TEXT(get_rows_##NAME##_##TYPE_NAME))]] kernel void get_rows_##NAME<TYPE>(                \
      constant soffit::GetRowsArguments&, device const uchar*, device const int*, device TYPE*, uint3);

#endif  // SOFFIT_METAL_MATRIX_H
