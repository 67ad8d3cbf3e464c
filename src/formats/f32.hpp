// F32: plain IEEE binary32. Copied, so that a NaN keeps its payload.
#pragma once

#include "soffit/format.hpp"

namespace soffit {

struct F32 {
  using Block = float;
  static constexpr Format kFormat = Format::f32;
  static constexpr std::string_view kName = "f32";
  static constexpr int kElements = 1;

  static void decode(const Block& block, float* y) { *y = block; }

  static void encode(const float* x, Block& block) { block = *x; }
};

}  // namespace soffit
