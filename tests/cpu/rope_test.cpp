// Angles of rotary position embedding far from the beginning, where those of fp32 are off by thousandths.
#include "ops/rope.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace soffit::test {
namespace {

void expect_angles(const RopeParameters& rope, const float* divisors, int32_t position) {
  const auto pairs = size_t(rope.dimensions / 2);
  std::vector<float> cosine(pairs), sine(pairs);
  rope_angles(rope, divisors, position, cosine.data(), sine.data());
  for (size_t i = 0; i < pairs; ++i) {
    const auto exponent = -2.0L * static_cast<long double>(i) / static_cast<long double>(rope.dimensions);
    const long double frequency = std::pow(static_cast<long double>(rope.base), exponent);
    const long double angle = position * frequency / (divisors ? divisors[i] : 1.0f) * rope.frequency_scale;
    EXPECT_NEAR(cosine[i], double(std::cos(angle)), 4e-7) << position << ", pair " << i << ", base " << rope.base;
    EXPECT_NEAR(sine[i], double(std::sin(angle)), 4e-7) << position << ", pair " << i << ", base " << rope.base;
  }
}

TEST(Rope, AnglesAreGoodAtAnyPosition) {
  std::vector<float> divisors(64);
  for (size_t i = 0; i < 64; ++i) divisors[i] = 1 + float(i) / 8;
  for (const float base : {1e4f, 5e5f, 1e6f})
    for (const float scale : {1.0f, 0.125f})
      for (const int64_t dimensions : {2, 64, 80, 128})
        for (const int32_t position : {0, 1, 511, 4095, 131071, 1048575, INT32_MAX}) {
          RopeParameters rope;
          rope.dimensions = dimensions, rope.base = base, rope.frequency_scale = scale;
          expect_angles(rope, nullptr, position);
          expect_angles(rope, divisors.data(), position);
        }
}

}  // namespace
}  // namespace soffit::test
