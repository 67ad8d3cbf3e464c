// Reads little-endian values one after the other from untrusted bytes, at any alignment, never beyond their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace soffit::gguf {

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  // False, and nothing read, when fewer bytes remain.
  template <class T>
  [[nodiscard]] bool read(T& value) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);  // a bool's other bit patterns are undefined
    if (remaining() < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + position_, sizeof value);
    position_ += sizeof value;
    return true;
  }

  [[nodiscard]] bool take(uint64_t count, std::span<const std::byte>& taken) {
    if (remaining() < count) return false;
    taken = bytes_.subspan(position_, count);
    position_ += count;
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace soffit::gguf
