// Q3_K: 256 elements of three bits around 4 in 16 groups of 16, each with a signed 6-bit scale; 3.4375 bits an element.
//
//   byte  0                     32                        96           108     110
//         | hmask[32]: bit 2    | qs[64]: bits 0 and 1    | scales[12] | d f16 |
//
// Element i has its bit 2 at bit i/32 of hmask[i%32]. The scale of group g, plus 32: its lower four bits are a half of
// scales[g%8], the low one for g < 8; its upper two are bits 2*(g/4) and up of scales[8 + g%4].
//
//   y = (d * scale) * (q - 4),  q in 0…7,  scale in -32…31
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/packing.hpp"
#include "formats/search.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q3_K {
  using Block = BlockQ3_K;
  static constexpr Format kFormat = Format::q3_k;
  static constexpr std::string_view kName = "q3_k";
  static constexpr int kElements = 256, kGroup = 16;

  static int scale(const Block& block, int group) {
    const int low = block.scales[group % 8] >> group / 8 * 4 & 15;
    const int high = block.scales[8 + group % 4] >> group / 4 * 2 & 3;
    return (low | high << 4) - 32;
  }

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) {
      const int q = two_bits(block.qs, i) | (block.hmask[i % 32] >> i / 32 & 1) << 2;
      y[i] = d * float(scale(block, i / kGroup)) * float(q - 4);
    }
  }

  static void encode(const float* from, Block& block) {
    const NormalisedBlock<kElements> normalised(from);
    std::array<float, kElements / kGroup> fits;
    for (int g = 0; g < kElements / kGroup; ++g) fits[g] = search_scale_three_bits<kGroup>(&normalised.x[g * kGroup]);
    const GroupScales<kElements / kGroup> scales(normalised, fits, -32);
    block = {};
    block.d = scales.d;
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) {
      const float d_group = scales.values[i / kGroup];
      const int q = d_group == 0 ? 0 : int(round_even(normalised.x[i] / d_group, -4, 3));
      codes[i] = uint8_t((q + 4) & 3);
      block.hmask[i % 32] |= uint8_t((q + 4) >> 2 << i / 32);
    }
    set_two_bits(block.qs, codes);
    for (int g = 0; g < kElements / kGroup; ++g) {
      const int stored = scales.codes[g] + 32;
      block.scales[g % 8] |= uint8_t((stored & 15) << g / 8 * 4);
      block.scales[8 + g % 4] |= uint8_t(stored >> 4 << g / 4 * 2);
    }
  }
};

}  // namespace soffit
