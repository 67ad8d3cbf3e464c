#include "check/decoded.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

#include "formats/blocks.h"

namespace soffit::checker {
namespace {

// The bytes of a block that hold codes, of the formats with a minimum and others whose codes count steps. With all bits
// set a code is `largest`, with none 0; of Q8_0, whose codes are signed, they are -1 and 0.
struct Range {
  size_t begin = 0, end = 0;
  int largest = 0;
  bool minimum = true;
};
Range code_bytes(Format format) {
  switch (format) {
    case Format::q4_0:
      return {offsetof(BlockQ4_0, qs), sizeof(BlockQ4_0), 15, false};
    case Format::q5_0:
      return {offsetof(BlockQ5_0, qh), sizeof(BlockQ5_0), 31, false};
    case Format::q8_0:
      return {offsetof(BlockQ8_0, qs), sizeof(BlockQ8_0), 1, false};
    case Format::q3_k:
      return {offsetof(BlockQ3_K, hmask), offsetof(BlockQ3_K, scales), 7, false};
    case Format::q6_k:
      return {offsetof(BlockQ6_K, ql), offsetof(BlockQ6_K, scales), 63, false};
    case Format::tq1_0:
      return {offsetof(BlockTQ1_0, qs), offsetof(BlockTQ1_0, d), 2, false};
    case Format::tq2_0:
      return {offsetof(BlockTQ2_0, qs), offsetof(BlockTQ2_0, d), 3, false};
    case Format::q4_1:
      return {offsetof(BlockQ4_1, qs), sizeof(BlockQ4_1), 15};
    case Format::q5_1:
      return {offsetof(BlockQ5_1, qh), sizeof(BlockQ5_1), 31};
    case Format::q2_k:
      return {offsetof(BlockQ2_K, qs), offsetof(BlockQ2_K, d), 3};
    case Format::q4_k:
      return {offsetof(BlockQ4_K, qs), sizeof(BlockQ4_K), 15};
    case Format::q5_k:
      return {offsetof(BlockQ5_K, qh), sizeof(BlockQ5_K), 31};
    default:
      return {};
  }
}

}  // namespace

Grouping grouping(Format format) {
  const Range codes = code_bytes(format);
  const bool minimum = codes.end != 0 && codes.minimum;
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

DecodedRow decode_row(Format format, std::span<const std::byte> bytes, bool with_steps) {
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
    const auto with_codes = [&](int byte) {
      std::vector<std::byte> changed(bytes.begin(), bytes.end());
      for (size_t b = 0; b < blocks; ++b)
        std::memset(changed.data() + b * f.block_bytes + codes.begin, byte, codes.end - codes.begin);
      std::vector<float> decoded(cols);
      f.decode(changed.data(), decoded.data(), blocks);
      return decoded;
    };
    if (codes.minimum || with_steps) {
      const auto least = with_codes(0);
      // With all codes 0 the reference decodes to -minimum.
      if (codes.minimum)
        for (size_t k = 0; k < cols; ++k)
          row.magnitude[k] = std::fabs(row.weight[k] - double(least[k])) + std::fabs(double(least[k]));
      if (with_steps) {
        const auto most = with_codes(0xff);
        for (size_t k = 0; k < cols; ++k)
          row.step.push_back(std::fabs(double(most[k]) - double(least[k])) / codes.largest);
      }
    }
  }
  for (const double m : row.magnitude) row.magnitude_sum += m;
  return row;
}

}  // namespace soffit::checker
