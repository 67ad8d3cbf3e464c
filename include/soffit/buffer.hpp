// Memory of a backend, and matrices in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "soffit/status.hpp"

namespace soffit {

enum class DataType : uint8_t { f32, f16, bf16, i32 };
constexpr int64_t size_of(DataType type) { return type == DataType::f32 || type == DataType::i32 ? 4 : 2; }
const char* to_string(DataType type);

// Memory of a backend.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual uint64_t size() const = 0;
  // The host's address of the memory; null where the host cannot reach it.
  virtual void* host() = 0;
  const void* host() const { return const_cast<Buffer*>(this)->host(); }
  // Synchronous copies; an error when [offset, offset + size) is not inside the buffer.
  virtual Status write(uint64_t offset, std::span<const std::byte> from) = 0;
  virtual Status read(uint64_t offset, std::span<std::byte> to) const = 0;
};

// Copies bytes between buffers of any two backends; done when it returns. Ranges of one buffer must not overlap.
Status copy(const Buffer& from, uint64_t from_offset, Buffer& to, uint64_t to_offset, uint64_t size);

// A matrix inside a buffer: `rows` rows of `cols` contiguous elements, one every `row_stride` elements. A stride of 0
// repeats one row. Heads are column ranges of a row: (rows, heads * head_dim).
struct ArrayView {
  Buffer* buffer = nullptr;
  uint64_t offset = 0;  // bytes
  DataType type = DataType::f32;
  int64_t rows = 0, cols = 0, row_stride = 0;

  bool empty() const { return buffer == nullptr; }
  ArrayView columns(int64_t first, int64_t count) const {
    return {buffer, offset + uint64_t(first * size_of(type)), type, rows, count, row_stride};
  }
  ArrayView first_rows(int64_t count) const { return {buffer, offset, type, count, cols, row_stride}; }
};
// A dense view over the whole of a buffer.
inline ArrayView view(Buffer& buffer, DataType type, int64_t rows, int64_t cols) {
  return {&buffer, 0, type, rows, cols, cols};
}

}  // namespace soffit
