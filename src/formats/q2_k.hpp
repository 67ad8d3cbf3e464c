// Q2_K: 256 elements of two bits in 16 groups of 16, each with a 4-bit scale and a 4-bit minimum; 2.625 bits an
// element.
//
//   byte  0                                         16                       80      82         84
//         | scales[16]: scale bits 0…3, minimum 4…7 | qs[64]: two bits each  | d f16 | dmin f16 |
//
//   y = (d * scale) * q - (dmin * minimum),  q in 0…3
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/packing.hpp"
#include "formats/search_minimum.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q2_K {
  using Block = BlockQ2_K;
  static constexpr Format kFormat = Format::q2_k;
  static constexpr std::string_view kName = "q2_k";
  static constexpr int kElements = 256, kGroup = 16;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d), dmin = half_to_float(block.dmin);
    for (int i = 0; i < kElements; ++i) {
      const int packed = block.scales[i / kGroup];
      const float scale = d * float(packed & 15), minimum = dmin * float(packed >> 4);
      y[i] = scale * float(two_bits(block.qs, i)) - minimum;
    }
  }

  static void encode(const float* x, Block& block) {
    const auto unpacked = encode_with_minimum<kGroup>(x, 3, 15);
    block.d = unpacked.d;
    block.dmin = unpacked.dmin;
    for (int g = 0; g < kElements / kGroup; ++g)
      block.scales[g] = uint8_t(unpacked.scales[g] | unpacked.minima[g] << 4);
    set_two_bits(block.qs, unpacked.codes.data());
  }
};

}  // namespace soffit
