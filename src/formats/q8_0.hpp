// Q8_0: 32 signed bytes, one scale; 8.5 bits an element.
//
//   byte  0       2                                34
//         | d f16 | qs[32]: int8, in order         |
//
//   y = q * d
#pragma once

#include "core/half.hpp"
#include "formats/blocks.h"
#include "formats/encode.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct Q8_0 {
  using Block = BlockQ8_0;
  static constexpr Format kFormat = Format::q8_0;
  static constexpr std::string_view kName = "q8_0";
  static constexpr int kElements = 32;

  static void decode(const Block& block, float* y) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) y[i] = float(block.qs[i]) * d;
  }

  // The largest magnitude becomes 127; a half is rounded away from zero.
  static void encode(const float* from, Block& block) {
    const auto x = bounded<kElements>(from, -127 * kMaxHalf, 127 * kMaxHalf);
    const StoredScale d(std::fabs(extreme(x.data(), kElements)) / 127);
    block.d = d.half;
    for (int i = 0; i < kElements; ++i) block.qs[i] = int8_t(std::round(x[i] * d.inverse));
  }
};

}  // namespace soffit
