// MXFP4: 32 E2M1 numbers under a power of two; 4.25 bits an element. Source: OCP Microscaling Formats v1.0, except that
// the scale byte 255 is 2^128 here, as in ggml, and not NaN.
//
//   byte  0        1                                17
//         | e E8M0 | qs[16]: split halves           |
//
//   y = kE2m1Doubled[q] * 2^(e - 128)
#pragma once

#include <bit>

#include "formats/blocks.h"
#include "formats/packing.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct MXFP4 {
  using Block = BlockMXFP4;
  static constexpr Format kFormat = Format::mxfp4;
  static constexpr std::string_view kName = "mxfp4";
  static constexpr int kElements = 32;

  // 2^(e - 128), half of what the byte says because the table is doubled. The first two are fp32 subnormals.
  static float half_scale(uint8_t e) { return std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1u) << 23); }

  static void decode(const Block& block, float* y) {
    const float scale = half_scale(block.e);
    for (int i = 0; i < kElements; ++i) y[i] = float(kE2m1Doubled[nibble(block.qs, i)]) * scale;
  }
};

}  // namespace soffit
