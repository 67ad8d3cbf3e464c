// Q6_K: 256 elements of six bits around 32 in 16 groups of 16, each with a signed byte as scale; 6.5625 bits an
// element.
//
//   byte  0                      128                       192                208     210
//         | ql[128]: bits 0…3    | qh[64]: bits 4 and 5    | scales[16]: int8 | d f16 |
//
// Each half of 128 elements has 64 bytes of ql and 32 of qh. Element 32*k + l of a half (k in 0…3): its lower bits are
// in ql[l + 32*(k%2)], low four for k < 2; its upper bits are bits 2*k and up of qh[l].
//
//   y = (d * scale) * (q - 32),  q in 0…63
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/search.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q6_K {
  using Block = BlockQ6_K;
  static constexpr Format kFormat = Format::q6_k;
  static constexpr std::string_view kName = "q6_k";
  static constexpr int kElements = 256, kGroup = 16;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) {
      const int half = i / 128, k = i / 32 % 4, l = i % 32;
      const int low = block.ql[half * 64 + k % 2 * 32 + l] >> k / 2 * 4 & 15;
      const int high = block.qh[half * 32 + l] >> k * 2 & 3;
      const int scale = block.scales[i / kGroup], q = (low | high << 4) - 32;
      y[i] = d * float(scale) * float(q);
    }
  }

  static void encode(const float* from, Block& block) {
    const NormalisedBlock<kElements> normalised(from);
    std::array<float, kElements / kGroup> fits;
    for (int g = 0; g < kElements / kGroup; ++g) fits[g] = search_scale_six_bits<kGroup>(&normalised.x[g * kGroup]);
    const GroupScales<kElements / kGroup> scales(normalised, fits, -128);
    block = {};
    block.d = scales.d;
    for (int g = 0; g < kElements / kGroup; ++g) block.scales[g] = int8_t(scales.codes[g]);
    for (int i = 0; i < kElements; ++i) {
      const float d_group = scales.values[i / kGroup];
      const int q = d_group == 0 ? 32 : int(round_even(normalised.x[i] / d_group, -32, 31)) + 32;
      const int half = i / 128, k = i / 32 % 4, l = i % 32;
      block.ql[half * 64 + k % 2 * 32 + l] |= uint8_t((q & 15) << k / 2 * 4);
      block.qh[half * 32 + l] |= uint8_t(q >> 4 << k * 2);
    }
  }
};

}  // namespace soffit
