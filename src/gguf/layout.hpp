// The constants of GGUF's binary layout, which reader and writer share.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/escape.hpp"
#include "soffit/gguf.hpp"

namespace soffit::gguf {

static_assert(std::endian::native == std::endian::little, "GGUF is read and written in place, little-endian");

// file    = magic, u32 version, i64 tensors, i64 keys, { string key, u32 type, value }…, { tensor }…, padding, data
// string  = u64 bytes, bytes           array  = u32 element type, u64 count, elements
// tensor  = string name, u32 dimensions, i64 ne0…, u32 type id, u64 offset in data
inline constexpr std::string_view kMagic = "GGUF";
inline constexpr uint32_t kOldestVersion = 2, kNewestVersion = 3;
inline constexpr uint64_t kDefaultAlignment = 32;
inline constexpr std::string_view kAlignmentKey = "general.alignment";

// Limits of ggml's reader.
inline constexpr uint64_t kMaxStringBytes = uint64_t(1) << 30;
inline constexpr uint64_t kMaxArrayElements = uint64_t(1) << 30;
inline constexpr uint32_t kMaxDimensions = 4;
inline constexpr uint64_t kMaxNameBytes = 63;  // of a tensor; 64 with ggml's closing zero

// The shortest key (1 byte, u8 value) and tensor (no name, no dimensions): what a count must leave room for.
inline constexpr uint64_t kMinKeyValueBytes = 8 + 1 + 4 + 1;
inline constexpr uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;

// Bytes of a scalar; 0 for strings, arrays and unknown ids.
constexpr uint32_t scalar_bytes(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::string:
    case ValueType::array:
      return 0;
  }
  return 0;
}

constexpr bool is_value_type(uint32_t id) { return id <= uint32_t(ValueType::f64); }

// A key or a name as messages show it.
inline std::string in_quotes(std::string_view text) { return "'" + escaped(text, 80) + "'"; }

// Bytes of a tensor's data. An error, without the tensor's name, when the type is unknown, a dimension negative or no
// multiple of the block, or when elements or bytes are over 2^63.
Result<uint64_t> tensor_bytes(uint32_t type_id, std::span<const int64_t> shape);

}  // namespace soffit::gguf
