// Q5_K: 256 elements of five bits in 8 groups of 32, each with a 6-bit scale and a 6-bit minimum; 5.5 bits an element.
//
//   byte  0       2          4                             16              48                       176
//         | d f16 | dmin f16 | scales[12]: see packing.hpp | qh[32]: bit 4 | qs[128]: bits 0…3      |
//
// Bit g of qh[j] belongs to element j of group g. qs: paired nibbles.
//
//   y = (d * scale) * q - (dmin * minimum),  q in 0…31
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/packing.hpp"
#include "formats/search_minimum.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q5_K {
  using Block = BlockQ5_K;
  static constexpr Format kFormat = Format::q5_k;
  static constexpr std::string_view kName = "q5_k";
  static constexpr int kElements = 256, kGroup = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d), dmin = half_to_float(block.dmin);
    for (int g = 0; g < kElements / kGroup; ++g) {
      const auto packed = scale_and_minimum(block.scales, g);
      const float scale = d * float(packed.scale), minimum = dmin * float(packed.minimum);
      for (int j = 0; j < kGroup; ++j) {
        const int i = g * kGroup + j, q = paired_nibble(block.qs, i) | (block.qh[j] >> g & 1) << 4;
        y[i] = scale * float(q) - minimum;
      }
    }
  }

  static void encode(const float* x, Block& block) {
    const auto unpacked = encode_with_minimum<kGroup>(x, 31, 63);
    block.d = unpacked.d;
    block.dmin = unpacked.dmin;
    set_scales_and_minima(block.scales, unpacked.scales.data(), unpacked.minima.data());
    set_paired_nibbles(block.qs, unpacked.codes.data());
    for (int j = 0; j < kGroup; ++j) {
      int bits = 0;
      for (int g = 0; g < kElements / kGroup; ++g) bits |= unpacked.codes[g * kGroup + j] >> 4 << g;
      block.qh[j] = uint8_t(bits);
    }
  }
};

}  // namespace soffit
