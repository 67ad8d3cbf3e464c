// Searches for the scales of a group of N weights: each tries a few candidates, assigns codes to the nearest, fits the
// scale by weighted least squares to the codes, and keeps the best. Deterministic; sums run in a fixed order.
// The candidates are those of ggml's reference quantisers.
#pragma once

#include <array>
#include <cmath>

#include "formats/blocks.h"
#include "formats/encode.hpp"

namespace soffit {

// A block divided by a power of two that brings its largest magnitude into [1/2, 1): the searches form products of six
// values, which otherwise overflow or vanish. What is below 2^-60 has no scale in fp16 and counts as zero; no format
// reaches 2^30. A value 2^60 times smaller than the largest counts as zero too: no scale of a group reaches so far
// down, and its inverse need not be finite.
template <int N>
struct NormalisedBlock {
  std::array<float, N> x;
  int exponent = 0;

  explicit NormalisedBlock(const float* from) : x(bounded<N>(from, -0x1p30f, 0x1p30f)) {
    const float largest = std::fabs(extreme(x.data(), N));
    if (largest < 0x1p-60f) {
      x.fill(0);
      return;
    }
    std::frexp(largest, &exponent);
    const float factor = std::ldexp(1.0f, -exponent);
    for (float& v : x) v = std::fabs(v * factor) < 0x1p-60f ? 0.0f : v * factor;
  }

  // A scale in units of this block as fp16, and the stored scale in those units.
  uint16_t store(float scale) const {
    return float_to_half(std::clamp(std::ldexp(scale, exponent) + 0.0f, -kMaxHalf, kMaxHalf));
  }
  float load(uint16_t half) const { return std::ldexp(half_to_float(half), -exponent); }
};

// The sum of term(0)…term(N-1) in eight interleaved parts, which a compiler can keep in one vector register.
template <int N, class Term>
float sum(Term term) {
  static_assert(N % 8 == 0);
  float parts[8] = {};
  for (int i = 0; i < N; i += 8)
    for (int j = 0; j < 8; ++j) parts[j] += term(i + j);
  return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

template <int N>
std::array<float, N> squares(const float* x) {
  std::array<float, N> w;
  for (int i = 0; i < N; ++i) w[i] = x[i] * x[i];
  return w;
}

// x ~ scale * code, codes given: sum(w x code) and sum(w code^2). The fit's scale is their quotient, and it takes
// product^2 / square off the weighted error.
struct ScaleFit {
  float product = 0, square = 0;

  float scale() const { return square > 0 ? product / square : 0; }
  bool better_than(const ScaleFit& other) const {
    return square > 0 && product * product * other.square > other.product * other.product * square;
  }
};

template <int N>
ScaleFit fit_scale(const float* x, const float* w, const float* codes) {
  return {sum<N>([&](int i) { return w[i] * x[i] * codes[i]; }),
          sum<N>([&](int i) { return w[i] * codes[i] * codes[i]; })};
}

// The best of a first guess and the candidates 0…count-1, where inverse(k) is 1/scale of candidate k and code(v) the
// code's value nearest to v.
template <int N, class Code, class Inverse>
float search_scale(const float* x, int count, Code code, Inverse inverse) {
  const auto w = squares<N>(x);
  ScaleFit best;
  for (int k = 0; k < count; ++k) {
    const float factor = inverse(k);
    std::array<float, N> codes;
    for (int i = 0; i < N; ++i) codes[i] = code(x[i] * factor);
    const ScaleFit fit = fit_scale<N>(x, w.data(), codes.data());
    if (k == 0 || fit.better_than(best)) best = fit;
  }
  return best.scale();
}

// Codes -32…31: the extreme value becomes -32, or up to 0.9 more or less.
template <int N>
float search_scale_six_bits(const float* x) {
  const float largest = extreme(x, N);
  if (largest == 0) return 0;
  const auto code = [](float v) { return round_even(v, -32, 31); };
  // 0, then -0.9…-0.1 and 0.1…0.9
  const auto offset = [](int k) { return 0.1f * float(k == 0 ? 0 : k <= 9 ? k - 10 : k - 9); };
  return search_scale<N>(x, 19, code, [&](int k) { return -(32 + offset(k)) / largest; });
}

// Codes -4…3: from the extreme value as -4, one code after the other is moved where that improves the fit.
template <int N>
float search_scale_three_bits(const float* x) {
  const float largest = extreme(x, N);
  if (largest == 0) return 0;
  const auto w = squares<N>(x);
  std::array<float, N> codes;
  for (int i = 0; i < N; ++i) codes[i] = round_even(x[i] * (-4 / largest), -4, 3);
  ScaleFit fit = fit_scale<N>(x, w.data(), codes.data());
  bool changed = true;
  for (int sweep = 0; sweep < 5 && changed; ++sweep) {
    changed = false;
    for (int i = 0; i < N; ++i) {
      ScaleFit moved{fit.product - w[i] * x[i] * codes[i], fit.square - w[i] * codes[i] * codes[i]};
      if (moved.product <= 0) continue;  // without this element the scale has no sign to go by
      const float code = round_even(x[i] * moved.square / moved.product, -4, 3);
      if (code == codes[i]) continue;
      moved.product += w[i] * x[i] * code;
      moved.square += w[i] * code * code;
      if (!moved.better_than(fit)) continue;
      codes[i] = code;
      fit = moved;
      changed = true;
    }
  }
  return fit.scale();
}

// The index of the table value nearest to v, the upper of two. The borders between values are multiples of 1/2, so the
// whole part of 2v decides.
constexpr std::array<uint8_t, 512> kNearestIq4 = [] {
  std::array<uint8_t, 512> nearest{};
  for (int i = 0; i < 512; ++i)
    for (int k = 0; k < 15; ++k) nearest[i] += i - 256 >= kIq4Values[k] + kIq4Values[k + 1];
  return nearest;
}();
inline int nearest_iq4(float v) { return kNearestIq4[int(std::clamp(2 * v + 256, 0.0f, 511.0f))]; }

// Codes of the uneven table: the extreme value becomes +127, beyond its upper end, or -134…-120 around its lower.
template <int N>
float search_scale_iq4(const float* x) {
  const float largest = extreme(x, N);
  if (largest == 0) return 0;
  const auto code = [](float v) { return float(kIq4Values[nearest_iq4(v)]); };
  const float end = kIq4Values[0];
  return search_scale<N>(x, 16, code, [&](int k) { return (k == 0 ? -end : float(k - 8) + end) / largest; });
}

// The scales of a block's groups as signed integers lowest…-lowest-1 times d; the scale of largest magnitude becomes
// `lowest`, if fp16 has d. They count in d as stored: small weights put d among fp16's subnormals, where rounding is
// coarse.
template <int Groups>
struct GroupScales {
  uint16_t d;
  std::array<int, Groups> codes{};
  std::array<float, Groups> values{};  // d * code, in units of the block

  template <int N>
  GroupScales(const NormalisedBlock<N>& block, const std::array<float, Groups>& scales, int lowest)
      : d(block.store(extreme(scales.data(), Groups) / float(lowest))) {
    const float stored = block.load(d);
    if (stored == 0) return;
    for (int g = 0; g < Groups; ++g) {
      const float code = round_even(scales[g] / stored, float(lowest), float(-lowest - 1));
      codes[g] = int(code);
      values[g] = stored * code;
    }
  }
};

}  // namespace soffit
