// Q4_0: 32 elements of four bits around 8, one scale; 4.5 bits an element.
//
//   byte  0       2                                18
//         | d f16 | qs[16]: split halves           |
//
//   y = (q - 8) * d,  q in 0…15
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/encode.hpp"
#include "formats/packing.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q4_0 {
  using Block = BlockQ4_0;
  static constexpr Format kFormat = Format::q4_0;
  static constexpr std::string_view kName = "q4_0";
  static constexpr int kElements = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) y[i] = float(nibble(block.qs, i) - 8) * d;
  }

  // The value of largest magnitude becomes code 0, -8 times the scale.
  static void encode(const float* from, Block& block) {
    const auto x = bounded<kElements>(from, -8 * kMaxHalf, 8 * kMaxHalf);
    const StoredScale d(extreme(x.data(), kElements) / -8);
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) codes[i] = uint8_t(truncate(x[i] * d.inverse + 8.5f, 15));
    block.d = d.half;
    set_nibbles(block.qs, codes);
  }
};

}  // namespace soffit
