// MXFP4: 32 E2M1 numbers under a power of two; 4.25 bits an element. Source: OCP Microscaling Formats v1.0, except that
// the scale byte 255 is 2^128 here, as in ggml, and not NaN.
//
//   byte  0        1                                17
//         | e E8M0 | qs[16]: split halves           |
//
//   y = kE2m1Doubled[q] * 2^(e - 128)
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "formats/blocks.h"
#include "formats/encode.hpp"
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

  // The exponent of the largest magnitude becomes that of the largest codes, 4 and 6; what is above 6 is clipped to it.
  static void encode(const float* from, Block& block) {
    const float limit = std::numeric_limits<float>::max();
    const auto x = bounded<kElements>(from, -limit, limit);
    const float largest = std::fabs(extreme(x.data(), kElements));
    block.e = largest == 0 ? 0 : uint8_t(std::max(std::ilogb(largest) - 2 + 127, 0));
    const float scale = half_scale(block.e);
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) {
      codes[i] = 0;
      for (uint8_t code = 1; code < 16; ++code)
        if (distance(code, scale, x[i]) < distance(codes[i], scale, x[i])) codes[i] = code;
    }
    set_nibbles(block.qs, codes);
  }

 private:
  static float distance(uint8_t code, float scale, float x) { return std::fabs(float(kE2m1Doubled[code]) * scale - x); }
};

}  // namespace soffit
