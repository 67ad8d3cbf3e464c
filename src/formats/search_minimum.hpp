// The search for a scale and a minimum of each group, x ~ scale * code - minimum, and the block that Q2_K, Q4_K and
// Q5_K make of it. The scheme is that of ggml's reference quantisers; the candidates are spread wider, the best one is
// refined, and the squared error decides for Q2_K too: the error of normal values is 8 % less there, and the same or
// less elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/encode.hpp"
#include "formats/search.hpp"

namespace soffit {

struct ScaleAndMinimumFit {
  float scale = 0, minimum = 0;  // neither is negative
};

// One group: its values, and what every fit to them needs.
template <int N>
class MinimumSearch {
 public:
  MinimumSearch(const float* x, int max_code) : x_(x), max_code_(float(max_code)) {
    const float rms = std::sqrt(sum<N>([&](int i) { return x[i] * x[i]; }) / N);
    for (int i = 0; i < N; ++i) w_[i] = rms + std::fabs(x[i]);
    sum_w_ = sum<N>([&](int i) { return w_[i]; });
    sum_x_ = sum<N>([&](int i) { return w_[i] * x[i]; });
  }

  ScaleAndMinimumFit run() {
    const float low = std::min(0.0f, *std::min_element(x_, x_ + N)), high = *std::max_element(x_, x_ + N);
    if (high <= low) return {0, -low};
    // The range of values spread over max_code levels, then over three fewer to one more.
    assign_codes(max_code_ / (high - low), low);
    best_ = {(high - low) / max_code_, low};
    best_error_ = error(best_);
    for (int k = -15; k <= 5; ++k) {
      assign_codes((max_code_ + 0.2f * float(k)) / (high - low), low);
      improve();
    }
    for (int k = 0; k < 2 && best_.scale > 0; ++k) {
      assign_codes(1 / best_.scale, best_.offset);
      improve();
    }
    return {std::max(best_.scale, 0.0f), -best_.offset};
  }

 private:
  struct Fit {
    float scale, offset;  // the offset is not positive: a minimum is stored without sign
  };

  void assign_codes(float inverse, float offset) {
    for (int i = 0; i < N; ++i) codes_[i] = round_even(inverse * (x_[i] - offset), 0, max_code_);
  }

  float error(const Fit& fit) const {
    return sum<N>([&](int i) {
      const float difference = fit.scale * codes_[i] + fit.offset - x_[i];
      return w_[i] * difference * difference;
    });
  }

  // Weighted least squares for the present codes; kept if better than the best so far.
  void improve() {
    const float sum_c = sum<N>([&](int i) { return w_[i] * codes_[i]; });
    const float sum_cc = sum<N>([&](int i) { return w_[i] * codes_[i] * codes_[i]; });
    const float sum_xc = sum<N>([&](int i) { return w_[i] * x_[i] * codes_[i]; });
    const float determinant = sum_w_ * sum_cc - sum_c * sum_c;
    if (!(determinant > 0)) return;
    Fit fit{(sum_w_ * sum_xc - sum_x_ * sum_c) / determinant, (sum_cc * sum_x_ - sum_c * sum_xc) / determinant};
    if (fit.offset > 0) fit = {sum_xc / sum_cc, 0};
    const float e = error(fit);
    if (e < best_error_) best_error_ = e, best_ = fit;
  }

  const float* x_;
  float max_code_, sum_w_, sum_x_, best_error_ = 0;
  std::array<float, N> w_, codes_;
  Fit best_{};
};

// A block before its packing.
template <int kGroup>
struct MinimumBlock {
  static constexpr int kGroups = 256 / kGroup;
  uint16_t d, dmin;
  std::array<uint8_t, kGroups> scales, minima;
  std::array<uint8_t, 256> codes;
};

// Codes 0…max_code, scales and minima of the groups 0…max_scale.
template <int kGroup>
MinimumBlock<kGroup> encode_with_minimum(const float* from, int max_code, int max_scale) {
  constexpr int kGroups = MinimumBlock<kGroup>::kGroups;
  const NormalisedBlock<256> block(from);
  std::array<ScaleAndMinimumFit, kGroups> fits;
  float largest_scale = 0, largest_minimum = 0;
  for (int g = 0; g < kGroups; ++g) {
    fits[g] = MinimumSearch<kGroup>(&block.x[g * kGroup], max_code).run();
    largest_scale = std::max(largest_scale, fits[g].scale);
    largest_minimum = std::max(largest_minimum, fits[g].minimum);
  }
  MinimumBlock<kGroup> out{};
  const float top = float(max_scale);
  out.d = block.store(largest_scale / top);
  out.dmin = block.store(largest_minimum / top);
  // Scales in d as stored, and codes for the scales as they will be decoded: small weights put d among fp16's
  // subnormals, where rounding is coarse.
  const float d = block.load(out.d), dmin = block.load(out.dmin);
  for (int g = 0; g < kGroups; ++g) {
    const float scale = d > 0 ? round_even(fits[g].scale / d, 0, top) : 0;
    const float minimum = dmin > 0 ? round_even(fits[g].minimum / dmin, 0, top) : 0;
    out.scales[g] = uint8_t(scale);
    out.minima[g] = uint8_t(minimum);
    if (d * scale == 0) continue;  // every code decodes to the minimum
    for (int i = g * kGroup; i < (g + 1) * kGroup; ++i)
      out.codes[i] = uint8_t(round_even((block.x[i] + dmin * minimum) / (d * scale), 0, float(max_code)));
  }
  return out;
}

}  // namespace soffit
