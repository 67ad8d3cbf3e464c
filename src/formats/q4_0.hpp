// Q4_0: 32 elements of four bits around 8, one scale; 4.5 bits an element.
//
//   byte  0       2                                18
//         | d f16 | qs[16]: split halves           |
//
//   y = (q - 8) * d,  q in 0…15
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
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
};

}  // namespace soffit
