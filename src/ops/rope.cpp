#include "ops/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace soffit {

namespace {

// Calls f(pair, radians) with the angles at a position; returns YaRN's factor.
template <class F>
float for_each_angle(const RopeParameters& rope, const float* frequency_factors, int32_t position, F&& f) {
  const int64_t pairs = rope.dimensions / 2;
  const auto n = double(rope.dimensions), base = double(rope.base);
  double low = 0, high = 0;
  float magnitude = rope.attention_factor;
  if (rope.extrapolation != 0) {
    const auto correction = [&](double rotations) {
      return n * std::log(double(rope.original_context) / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
    };
    low = std::max(0.0, std::floor(correction(rope.beta_fast)));
    high = std::min(n - 1, std::ceil(correction(rope.beta_slow)));
    magnitude *= 1.0f + 0.1f * std::log(1.0f / rope.frequency_scale);
  }
  const double step = std::pow(base, -2 / n);
  double theta = position;
  for (int64_t i = 0; i < pairs; ++i, theta *= step) {
    const double extrapolated = theta / (frequency_factors ? double(frequency_factors[i]) : 1.0);
    double angle = double(rope.frequency_scale) * extrapolated;
    if (rope.extrapolation != 0) {
      const double ramp = (double(i) - low) / std::max(0.001, high - low);
      const double mix = (1 - std::clamp(ramp, 0.0, 1.0)) * double(rope.extrapolation);
      angle = angle * (1 - mix) + extrapolated * mix;
    }
    f(i, angle);
  }
  return magnitude;
}

}  // namespace

float rope_frequencies(const RopeParameters& rope, const float* frequency_factors, double* radians) {
  return for_each_angle(rope, frequency_factors, 1, [&](int64_t i, double angle) { radians[i] = angle; });
}

void rope_angles(const RopeParameters& rope, const float* frequency_factors, int32_t position, float* cosine,
                 float* sine) {
  // In double up to the fraction of a turn: an angle of 10^5 radians in fp32 would be off by 0.004.
  const float magnitude = for_each_angle(rope, frequency_factors, position, [&](int64_t i, double angle) {
    constexpr double kTurn = 2 * std::numbers::pi;
    const auto within_turn = float(angle - kTurn * std::nearbyint(angle / kTurn));
    cosine[i] = std::cos(within_turn);
    sine[i] = std::sin(within_turn);
  });
  for (int64_t i = 0; i < rope.dimensions / 2; ++i) cosine[i] *= magnitude, sine[i] *= magnitude;
}

void rotate_head(const RopeParameters& rope, const float* cosine, const float* sine, float* head) {
  const int64_t pairs = rope.dimensions / 2;
  const bool adjacent = rope.pairs == RopeParameters::Pairs::adjacent;
  const int64_t stride = adjacent ? 2 : 1, other = adjacent ? 1 : pairs;
  for (int64_t i = 0; i < pairs; ++i) {
    float &a = head[i * stride], &b = head[i * stride + other];
    const float x = a, y = b;
    a = x * cosine[i] - y * sine[i];
    b = x * sine[i] + y * cosine[i];
  }
}

}  // namespace soffit
