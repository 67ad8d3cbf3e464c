// Q4_1: 32 elements of four bits, a scale and a minimum; 5 bits an element.
//
//   byte  0       2       4                        20
//         | d f16 | m f16 | qs[16]: split halves   |
//
//   y = q * d + m,  q in 0…15
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/encode.hpp"
#include "formats/packing.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q4_1 {
  using Block = BlockQ4_1;
  static constexpr Format kFormat = Format::q4_1;
  static constexpr std::string_view kName = "q4_1";
  static constexpr int kElements = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d), m = half_to_float(block.m);
    for (int i = 0; i < kElements; ++i) y[i] = float(nibble(block.qs, i)) * d + m;
  }

  // The least value becomes code 0, the greatest 15.
  static void encode(const float* from, Block& block) {
    const auto x = bounded<kElements>(from, -kMaxHalf, 14 * kMaxHalf);
    const auto [least, greatest] = std::ranges::minmax(x);
    const float m = std::min(least, kMaxHalf);
    const StoredScale d((greatest - m) / 15);
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) codes[i] = uint8_t(truncate((x[i] - m) * d.inverse + 0.5f, 15));
    block.d = d.half;
    block.m = float_to_half(m);
    set_nibbles(block.qs, codes);
  }
};

}  // namespace soffit
