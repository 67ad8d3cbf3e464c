// F16: plain IEEE binary16, one sign, five exponent and ten mantissa bits.
#pragma once

#include "core/half.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct F16 {
  using Block = uint16_t;
  static constexpr Format kFormat = Format::f16;
  static constexpr std::string_view kName = "f16";
  static constexpr int kElements = 1;

  static void decode(const Block& block, float* y) { *y = half_to_float(block); }

  static void encode(const float* x, Block& block) { block = float_to_half(*x); }
};

}  // namespace soffit
