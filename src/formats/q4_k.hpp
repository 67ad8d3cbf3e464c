// Q4_K: 256 elements of four bits in 8 groups of 32, each with a 6-bit scale and a 6-bit minimum; 4.5 bits an element.
//
//   byte  0       2          4                              16                                 144
//         | d f16 | dmin f16 | scales[12]: see packing.hpp  | qs[128]: 32 bytes for two groups |
//
// Of the 32 bytes of groups 2p and 2p+1, byte j holds element j of the first in its low four bits and of the second in
// its high four.
//
//   y = (d * scale) * q - (dmin * minimum),  q in 0…15
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/packing.hpp"
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
      for (int j = 0; j < kGroup; ++j) {
        const int q = block.qs[g / 2 * 32 + j] >> g % 2 * 4 & 15;
        y[g * kGroup + j] = scale * float(q) - minimum;
      }
    }
  }
};

}  // namespace soffit
