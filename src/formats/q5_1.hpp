// Q5_1: 32 elements of five bits, a scale and a minimum; 6 bits an element.
//
//   byte  0       2       4                   8                                  24
//         | d f16 | m f16 | qh: bit 4 of each | qs[16]: bits 0…3, split halves   |
//
//   y = q * d + m,  q in 0…31
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/encode.hpp"
#include "formats/packing.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q5_1 {
  using Block = BlockQ5_1;
  static constexpr Format kFormat = Format::q5_1;
  static constexpr std::string_view kName = "q5_1";
  static constexpr int kElements = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d), m = half_to_float(block.m);
    for (int i = 0; i < kElements; ++i) {
      const int q = nibble(block.qs, i) | fifth_bit(block.qh, i) << 4;
      y[i] = float(q) * d + m;
    }
  }

  // The least value becomes code 0, the greatest 31.
  static void encode(const float* from, Block& block) {
    const auto x = bounded<kElements>(from, -kMaxHalf, 30 * kMaxHalf);
    const auto [least, greatest] = std::ranges::minmax(x);
    const float m = std::min(least, kMaxHalf);
    const StoredScale d((greatest - m) / 31);
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) codes[i] = uint8_t(truncate((x[i] - m) * d.inverse + 0.5f, 31));
    block.d = d.half;
    block.m = float_to_half(m);
    set_nibbles(block.qs, codes);
    set_fifth_bits(block.qh, codes);
  }
};

}  // namespace soffit
