// The bytes of one GGUF file to metadata and tensors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "soffit/gguf.hpp"

namespace soffit::gguf {

struct Part {
  uint32_t version = 0;
  uint64_t alignment = 0;
  std::vector<KeyValue> metadata;
  std::vector<Tensor> tensors;
  std::vector<uint32_t> metadata_order, tensor_order;  // by name; see index.hpp
};

// Everything in the result points into `bytes`. `name` begins each message.
Result<Part> parse_part(std::span<const std::byte> bytes, std::string_view name);

}  // namespace soffit::gguf
