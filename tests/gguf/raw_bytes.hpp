// GGUF files byte by byte, right or wrong: nothing here checks what it is given. Shared by tests and the fuzzer's
// corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "soffit/gguf.hpp"

namespace soffit::gguf::test {

class RawBytes {
 public:
  template <class T>
  RawBytes& put(T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  RawBytes& text(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  RawBytes& string(std::string_view content) { return put(uint64_t(content.size())).text(content); }
  RawBytes& header(int64_t tensors, int64_t keys, uint32_t version = 3) {
    bytes_.reserve(bytes_.size() + 24);  // g++ 12 loses count of what it holds, and warns
    return text("GGUF").put(version).put(tensors).put(keys);
  }
  // A key up to its value's first byte.
  RawBytes& key(std::string_view name, uint32_t type) { return string(name).put(type); }
  RawBytes& key(std::string_view name, ValueType type) { return key(name, uint32_t(type)); }
  RawBytes& array(std::string_view name, ValueType element, uint64_t count) {
    return key(name, ValueType::array).put(uint32_t(element)).put(count);
  }
  RawBytes& tensor(std::string_view name, std::span<const int64_t> shape, uint32_t type, uint64_t offset) {
    string(name).put(uint32_t(shape.size()));
    for (const int64_t dimension : shape) put(dimension);
    return put(type).put(offset);
  }
  RawBytes& tensor(std::string_view name, std::initializer_list<int64_t> shape, uint32_t type, uint64_t offset) {
    return tensor(name, std::span(shape.begin(), shape.size()), type, offset);
  }
  RawBytes& fill(size_t count, uint8_t byte = 0) {
    bytes_.insert(bytes_.end(), count, std::byte(byte));
    return *this;
  }
  RawBytes& pad(size_t alignment = 32) { return fill((alignment - bytes_.size() % alignment) % alignment); }

  size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// A small right file: a value of every type, arrays of every element type, tensors of several formats.
RawBytes sample_file();

}  // namespace soffit::gguf::test
