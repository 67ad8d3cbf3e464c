#include "metal/rope_turns.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace soffit::metal {

RopeTable rope_turns(const RopeParameters& rope, const float* frequency_factors) {
  const auto n = double(rope.dimensions), base = double(rope.base), scale = double(rope.frequency_scale);
  RopeTable table{{}, rope.attention_factor};
  double low = 0, high = 0;
  if (rope.extrapolation != 0) {
    const auto dimension_of = [&](double rotations) {
      return n * std::log(double(rope.original_context) / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
    };
    low = std::max(0.0, std::floor(dimension_of(double(rope.beta_fast))));
    high = std::min(n - 1, std::ceil(dimension_of(double(rope.beta_slow))));
    table.magnitude *= 1.0f + 0.1f * std::log(1.0f / rope.frequency_scale);
  }
  for (int64_t i = 0; i < rope.dimensions / 2; ++i) {
    const double extrapolated =
        std::pow(base, -2.0 * double(i) / n) / (frequency_factors ? double(frequency_factors[i]) : 1.0);
    double frequency = scale * extrapolated;
    if (rope.extrapolation != 0) {
      const double ramp = std::clamp((double(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
      const double mix = (1 - ramp) * double(rope.extrapolation);
      frequency = frequency * (1 - mix) + extrapolated * mix;
    }
    const double turns = frequency / (2 * std::numbers::pi);
    table.turns.push_back({float(turns), float(turns - double(float(turns)))});
  }
  return table;
}

}  // namespace soffit::metal
