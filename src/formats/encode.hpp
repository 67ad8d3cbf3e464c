// What the encoders share: guards that keep every block finite, and rounding. A block of any format but the three plain
// ones decodes to finite values whatever was encoded: NaN counts as 0, and magnitudes above what the block can hold,
// the infinities too, are brought down to its largest.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/half.hpp"

namespace soffit {

inline constexpr float kMaxHalf = 65504;

// -0 becomes 0, so that no scale or minimum of a zero block is -0.
template <int N>
std::array<float, N> bounded(const float* from, float low, float high) {
  std::array<float, N> x;
  for (int i = 0; i < N; ++i) x[i] = from[i] != from[i] ? 0.0f : std::clamp(from[i] + 0.0f, low, high);
  return x;
}

// The value of largest magnitude, with its sign; the first of several.
inline float extreme(const float* x, int n) {
  float largest = 0;
  for (int i = 0; i < n; ++i)
    if (std::fabs(x[i]) > std::fabs(largest)) largest = x[i];
  return largest;
}

// v brought into low…high, rounded half to even. Adding 1.5 * 2^23 leaves no fraction bits, so the addition rounds.
inline float round_even(float v, float low, float high) {
  const float magic = 0x1.8p23f;
  return std::clamp(v, low, high) + magic - magic;
}

// v, over -1, without its fraction and at most `high`.
inline int truncate(float v, int high) { return std::min(int(v), high); }

// A scale d as it is stored, and the factor that brings values to codes: 1/d, or 0 where the stored scale is 0 and no
// code matters. The inverse is of the scale before its rounding to fp16, as ggml has it.
struct StoredScale {
  uint16_t half;
  float inverse;

  explicit StoredScale(float d) : half(float_to_half(d)) {
    if ((half & 0x7fff) == 0) half = 0;
    inverse = half == 0 ? 0 : 1 / d;
  }
};

}  // namespace soffit
