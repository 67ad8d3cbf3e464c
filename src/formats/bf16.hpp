// BF16: the upper half of an IEEE binary32.
#pragma once

#include "core/half.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct BF16 {
  using Block = uint16_t;
  static constexpr Format kFormat = Format::bf16;
  static constexpr std::string_view kName = "bf16";
  static constexpr int kElements = 1;

  static void decode(const Block& block, float* y) { *y = bfloat_to_float(block); }

  static void encode(const float* x, Block& block) { block = float_to_bfloat(*x); }
};

}  // namespace soffit
