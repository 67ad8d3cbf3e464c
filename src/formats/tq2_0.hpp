// TQ2_0: 256 elements of -1, 0 or 1 in two bits each, one scale; 2.0625 bits an element.
//
//   byte  0                                        64      66
//         | qs[64]: two bits each, as in Q2_K      | d f16 |
//
//   y = (q - 1) * d,  q in 0…2; 3 is never written and decodes to 2 * d
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/encode.hpp"
#include "formats/packing.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct TQ2_0 {
  using Block = BlockTQ2_0;
  static constexpr Format kFormat = Format::tq2_0;
  static constexpr std::string_view kName = "tq2_0";
  static constexpr int kElements = 256;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) y[i] = float(two_bits(block.qs, i) - 1) * d;
  }

  // The largest magnitude becomes the scale, and what is at least half of it 1 or -1.
  static void encode(const float* from, Block& block) {
    const auto x = bounded<kElements>(from, -kMaxHalf, kMaxHalf);
    const float largest = std::fabs(extreme(x.data(), kElements));
    const StoredScale d(largest);
    block.d = d.half;
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) codes[i] = uint8_t(int(std::round(x[i] * d.inverse)) + 1);
    set_two_bits(block.qs, codes);
  }
};

}  // namespace soffit
