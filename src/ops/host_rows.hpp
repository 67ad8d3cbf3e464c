// Rows of views in memory that the host reaches.
#pragma once

#include <cstddef>

#include "soffit/buffer.hpp"

namespace soffit {

template <class T>
T* row_of(const ArrayView& v, int64_t row) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(v.buffer->host()) + v.offset) + row * v.row_stride;
}

}  // namespace soffit
