#include "cpu/rope.hpp"

#include <algorithm>
#include <cmath>

namespace soffit::cpu {

void rope_angles(const RopeParameters& rope, const float* frequency_factors, int32_t position, float* cosine,
                 float* sine) {
  const int64_t pairs = rope.dimensions / 2;
  const auto n = float(rope.dimensions);
  float low = 0, high = 0, magnitude = rope.attention_factor;
  if (rope.extrapolation != 0) {
    const auto correction = [&](float rotations) {
      return n * std::log(float(rope.original_context) / (rotations * 2.0f * float(M_PI))) /
             (2.0f * std::log(rope.base));
    };
    low = std::max(0.0f, std::floor(correction(rope.beta_fast)));
    high = std::min(n - 1, std::ceil(correction(rope.beta_slow)));
    magnitude *= 1.0f + 0.1f * std::log(1.0f / rope.frequency_scale);
  }
  // Multiplying on from pair to pair in fp32, as llama.cpp does: an exact power differs in its last bits, and those
  // times a large position would show.
  const float step = std::pow(rope.base, -2.0f / n);
  float theta = float(position);
  for (int64_t i = 0; i < pairs; ++i, theta *= step) {
    const float extrapolated = theta / (frequency_factors ? frequency_factors[i] : 1.0f);
    float angle = rope.frequency_scale * extrapolated;
    if (rope.extrapolation != 0) {
      const float ramp = (float(i) - low) / std::max(0.001f, high - low);
      const float mix = (1.0f - std::clamp(ramp, 0.0f, 1.0f)) * rope.extrapolation;
      angle = angle * (1.0f - mix) + extrapolated * mix;
    }
    cosine[i] = std::cos(angle) * magnitude;
    sine[i] = std::sin(angle) * magnitude;
  }
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

}  // namespace soffit::cpu
