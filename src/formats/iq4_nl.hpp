// IQ4_NL: 32 elements of four bits that index a table of 16 uneven values, one scale; 4.5 bits an element.
//
//   byte  0       2                                18
//         | d f16 | qs[16]: split halves           |
//
//   y = d * kIq4Values[q]
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/packing.hpp"
#include "formats/search.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct IQ4_NL {
  using Block = BlockIQ4_NL;
  static constexpr Format kFormat = Format::iq4_nl;
  static constexpr std::string_view kName = "iq4_nl";
  static constexpr int kElements = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) y[i] = d * float(kIq4Values[nibble(block.qs, i)]);
  }

  static void encode(const float* from, Block& block) {
    const NormalisedBlock<kElements> normalised(from);
    block.d = normalised.store(search_scale_iq4<kElements>(normalised.x.data()));
    const float d = normalised.load(block.d);
    uint8_t codes[kElements];
    for (int i = 0; i < kElements; ++i) codes[i] = uint8_t(nearest_iq4(d == 0 ? 0 : normalised.x[i] / d));
    set_nibbles(block.qs, codes);
  }
};

}  // namespace soffit
