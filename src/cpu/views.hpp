// Reading and writing rows of views in host memory.
#pragma once

#include <cstring>

#include "core/half.hpp"
#include "cpu/kernels.hpp"
#include "ops/host_rows.hpp"
#include "soffit/backend.hpp"

namespace soffit::cpu {

// `count` columns from `first` on of a row as fp32: in place where they are, else in `to`.
inline const float* load_row(const ArrayView& v, int64_t row, int64_t first, int64_t count, float* to) {
  if (v.type == DataType::f32) return row_of<float>(v, row) + first;
  const uint16_t* from = row_of<uint16_t>(v, row) + first;
  for (int64_t i = 0; i < count; ++i)
    to[i] = v.type == DataType::f16 ? half_to_float(from[i]) : bfloat_to_float(from[i]);
  return to;
}

inline void store_row(const VectorKernels& kernels, const float* from, const ArrayView& v, int64_t row, int64_t first,
                      int64_t count) {
  switch (v.type) {
    case DataType::f32:
      std::memcpy(row_of<float>(v, row) + first, from, size_t(count) * sizeof(float));
      break;
    case DataType::f16:
      kernels.to_half(from, row_of<uint16_t>(v, row) + first, count);
      break;
    case DataType::bf16:
      for (int64_t i = 0; i < count; ++i) row_of<uint16_t>(v, row)[first + i] = float_to_bfloat(from[i]);
      break;
    case DataType::i32:
      break;  // refused by check()
  }
}

}  // namespace soffit::cpu
