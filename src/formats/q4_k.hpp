// Q4_K: 256 elements of four bits in 8 groups of 32, each with a 6-bit scale and a 6-bit minimum; 4.5 bits an element.
//
//   byte  0       2          4                              16                                 144
//         | d f16 | dmin f16 | scales[12]: see packing.hpp  | qs[128]: paired nibbles          |
//
//   y = (d * scale) * q - (dmin * minimum),  q in 0…15
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/packing.hpp"
#include "formats/search_minimum.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q4_K {
  using Block = BlockQ4_K;
  static constexpr Format kFormat = Format::q4_k;
  static constexpr std::string_view kName = "q4_k";
  static constexpr int kElements = 256, kGroup = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d), dmin = half_to_float(block.dmin);
    for (int g = 0; g < kElements / kGroup; ++g) {
      const auto packed = scale_and_minimum(block.scales, g);
      const float scale = d * float(packed.scale), minimum = dmin * float(packed.minimum);
      for (int i = g * kGroup; i < (g + 1) * kGroup; ++i) y[i] = scale * float(paired_nibble(block.qs, i)) - minimum;
    }
  }

  static void encode(const float* x, Block& block) {
    const auto unpacked = encode_with_minimum<kGroup>(x, 15, 63);
    block.d = unpacked.d;
    block.dmin = unpacked.dmin;
    set_scales_and_minima(block.scales, unpacked.scales.data(), unpacked.minima.data());
    set_paired_nibbles(block.qs, unpacked.codes.data());
  }
};

}  // namespace soffit
