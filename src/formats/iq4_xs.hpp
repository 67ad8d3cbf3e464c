// IQ4_XS: 256 elements as in IQ4_NL, in 8 groups of 32 with a signed 6-bit scale each; 4.25 bits an element.
//
//   byte  0       2              4             8                                         136
//         | d f16 | scales_h u16 | scales_l[4] | qs[128]: 16 bytes a group, split halves |
//
// The scale of group g, plus 32: its lower four bits are a half of scales_l[g/2], the low one for even g; its upper two
// are bits 2*g and up of scales_h.
//
//   y = (d * scale) * kIq4Values[q],  scale in -32…31
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/packing.hpp"
#include "formats/search.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct IQ4_XS {
  using Block = BlockIQ4_XS;
  static constexpr Format kFormat = Format::iq4_xs;
  static constexpr std::string_view kName = "iq4_xs";
  static constexpr int kElements = 256, kGroup = 32;

  static int scale(const Block& block, int group) {
    const int low = block.scales_l[group / 2] >> group % 2 * 4 & 15;
    const int high = block.scales_h >> group * 2 & 3;
    return (low | high << 4) - 32;
  }

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int g = 0; g < kElements / kGroup; ++g) {
      const float d_group = d * float(scale(block, g));
      const uint8_t* qs = block.qs + g * 16;
      for (int j = 0; j < kGroup; ++j) y[g * kGroup + j] = d_group * float(kIq4Values[nibble(qs, j)]);
    }
  }

  static void encode(const float* from, Block& block) {
    const NormalisedBlock<kElements> normalised(from);
    std::array<float, kElements / kGroup> fits;
    for (int g = 0; g < kElements / kGroup; ++g) fits[g] = search_scale_iq4<kGroup>(&normalised.x[g * kGroup]);
    const GroupScales<kElements / kGroup> scales(normalised, fits, -32);
    block = {};
    block.d = scales.d;
    for (int g = 0; g < kElements / kGroup; ++g) {
      const int stored = scales.codes[g] + 32;
      block.scales_l[g / 2] |= uint8_t((stored & 15) << g % 2 * 4);
      block.scales_h |= uint16_t(stored >> 4 << g * 2);
      const float d_group = scales.values[g];
      uint8_t codes[kGroup];
      for (int j = 0; j < kGroup; ++j)
        codes[j] = uint8_t(nearest_iq4(d_group == 0 ? 0 : normalised.x[g * kGroup + j] / d_group));
      set_nibbles(block.qs + g * 16, codes);
    }
  }
};

}  // namespace soffit
