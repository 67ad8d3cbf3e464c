// Values to the bytes of a GGUF file.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "soffit/gguf.hpp"

namespace soffit::gguf {

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Bytes that grow, little-endian.
class Bytes {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    put(std::as_bytes(std::span(&value, 1)));
  }
  void put(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void put_string(std::string_view text) {
    put(uint64_t(text.size()));
    put(bytes_of(text));
  }
  std::span<const std::byte> view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

// An owned value's bytes, and the Value that describes them and points into them.
struct Encoded {
  Value value;
  Bytes bytes;
};

// An error when a string or an array is longer than readers accept.
Status encode(const OwnedValue& value, Encoded& encoded);

// That the bytes are what the types say, within readers' limits.
Status check_value(const Value& value);
Status check_string(std::string_view text);

}  // namespace soffit::gguf
