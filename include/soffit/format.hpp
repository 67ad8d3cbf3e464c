// The element formats of GGUF tensors: names, sizes and the reference conversion to and from float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "soffit/status.hpp"

namespace soffit {

// The values are GGUF's type ids (ggml_type). Listed are the formats with kernels; see find_format for the others.
enum class Format : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq4_nl = 20,
  iq4_xs = 23,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
};

struct FormatInfo {
  uint32_t id;            // GGUF's type id
  std::string_view name;  // lower case: "q4_k"
  uint32_t block_elements;
  uint32_t block_bytes;
  bool supported;  // has kernels; otherwise known by name and size only, and decode and encode are null
  // Reference conversion of `blocks` whole blocks. Neither reads nor writes outside blocks * block_bytes and
  // blocks * block_elements; the bytes may lie at any address.
  // decode: exact fp32 arithmetic in the order of the format's definition; any bit pattern decodes.
  void (*decode)(const std::byte* from, float* to, size_t blocks);
  // encode: deterministic. f32, f16 and bf16 convert as IEEE 754 says. All others write blocks that decode to finite
  // values: NaN counts as 0, and what is too large for a block, infinities too, becomes the largest that it holds.
  void (*encode)(const float* from, std::byte* to, size_t blocks);
};

// Every id that GGUF defines, in ascending order; those it has removed are not among them.
std::span<const FormatInfo> all_formats();
// Null when GGUF never defined the id or has removed it.
const FormatInfo* find_format(uint32_t id);
const FormatInfo* find_format(std::string_view name);  // case does not matter
// The description of a format with kernels. A value that is none of the enumerators, cast from an unchecked number,
// gets a description named "unknown" that is not supported.
const FormatInfo& info(Format format);

// Bytes of one row; an error when cols is negative, no multiple of the block, or the product overflows 63 bits.
Result<int64_t> row_bytes(Format format, int64_t cols);

}  // namespace soffit
