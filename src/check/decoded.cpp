#include "check/decoded.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

#include "formats/blocks.h"

namespace soffit::checker {
namespace {

// The bytes of a block that hold codes, of the formats with a minimum.
struct Range {
  size_t begin = 0, end = 0;
};
Range code_bytes(Format format) {
  switch (format) {
    case Format::q4_1:
      return {offsetof(BlockQ4_1, qs), sizeof(BlockQ4_1)};
    case Format::q5_1:
      return {offsetof(BlockQ5_1, qh), sizeof(BlockQ5_1)};
    case Format::q2_k:
      return {offsetof(BlockQ2_K, qs), offsetof(BlockQ2_K, d)};
    case Format::q4_k:
      return {offsetof(BlockQ4_K, qs), sizeof(BlockQ4_K)};
    case Format::q5_k:
      return {offsetof(BlockQ5_K, qh), sizeof(BlockQ5_K)};
    default:
      return {};
  }
}

}  // namespace

Grouping grouping(Format format) {
  const bool minimum = code_bytes(format).end != 0;
  switch (format) {
    case Format::f32:
    case Format::f16:
    case Format::bf16:
      return {1, false};
    case Format::q2_k:
    case Format::q3_k:
    case Format::q6_k:
      return {16, minimum};
    case Format::tq1_0:
    case Format::tq2_0:
      return {256, false};
    default:
      return {32, minimum};
  }
}

DecodedRow decode_row(Format format, std::span<const std::byte> bytes) {
  const FormatInfo& f = info(format);
  const size_t blocks = bytes.size() / f.block_bytes, cols = blocks * f.block_elements;
  std::vector<float> values(cols);
  f.decode(bytes.data(), values.data(), blocks);
  DecodedRow row;
  row.weight.assign(values.begin(), values.end());
  row.magnitude.resize(cols);
  for (size_t k = 0; k < cols; ++k) row.magnitude[k] = std::fabs(row.weight[k]);
  const Range codes = code_bytes(format);
  if (codes.end != 0) {
    // With all codes 0 the reference decodes to -minimum.
    std::vector<std::byte> cleared(bytes.begin(), bytes.end());
    for (size_t b = 0; b < blocks; ++b)
      std::memset(cleared.data() + b * f.block_bytes + codes.begin, 0, codes.end - codes.begin);
    f.decode(cleared.data(), values.data(), blocks);
    for (size_t k = 0; k < cols; ++k)
      row.magnitude[k] = std::fabs(row.weight[k] - double(values[k])) + std::fabs(double(values[k]));
  }
  for (const double m : row.magnitude) row.magnitude_sum += m;
  return row;
}

}  // namespace soffit::checker
