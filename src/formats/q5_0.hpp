// Q5_0: 32 elements of five bits around 16, one scale; 5.5 bits an element.
//
//   byte  0       2                   6                                  22
//         | d f16 | qh: bit 4 of each | qs[16]: bits 0…3, split halves   |
//
//   y = (q - 16) * d,  q in 0…31
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/encode.hpp"
#include "formats/packing.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q5_0 {
  using Block = BlockQ5_0;
  static constexpr Format kFormat = Format::q5_0;
  static constexpr std::string_view kName = "q5_0";
  static constexpr int kElements = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) {
      const int q = nibble(block.qs, i) | fifth_bit(block.qh, i) << 4;
      y[i] = float(q - 16) * d;
    }
  }

  // The value of largest magnitude becomes code 0, -16 times the scale.
  static void encode(const float* from, Block& block) {
    const auto x = bounded<kElements>(from, -16 * kMaxHalf, 16 * kMaxHalf);
    const StoredScale d(extreme(x.data(), kElements) / -16);
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) codes[i] = uint8_t(truncate(x[i] * d.inverse + 16.5f, 31));
    block.d = d.half;
    set_nibbles(block.qs, codes);
    set_fifth_bits(block.qh, codes);
  }
};

}  // namespace soffit
