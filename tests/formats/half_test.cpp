// fp16 and bf16, every value in both directions, through the formats F16 and BF16 and through the helpers below them.
#include "core/half.hpp"

#include "support.hpp"

namespace soffit::test {
namespace {

struct Kind {
  const char* name;
  Format format;
  double (*exact)(uint16_t);
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float);
  int mantissa_bits, least_exponent;
  uint16_t infinity, quiet_bit;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
const Kind kHalf{"fp16", Format::f16, oracle::half, half_to_float, float_to_half, 10, -14, 0x7c00, 0x0200};
const Kind kBfloat{"bf16", Format::bf16, oracle::bfloat, bfloat_to_float, float_to_bfloat, 7, -126, 0x7f80, 0x0040};

// The nearest value, halves to even, in double: |x| is a multiple of the unit of its binade, rounded.
double nearest(const Kind& kind, float x) {
  const double a = std::fabs(double(x));
  if (a == 0) return x;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(a), kind.least_exponent) - kind.mantissa_bits);
  const double rounded = std::nearbyint(a / unit) * unit, largest = kind.exact(uint16_t(kind.infinity - 1));
  return std::copysign(rounded > largest ? INFINITY : rounded, x);
}

void expect_narrowed(const Kind& kind, float x) {
  const uint16_t bits = kind.narrow(x);
  const double expected = nearest(kind, x), got = kind.exact(bits);
  ASSERT_TRUE(got == expected && std::signbit(got) == std::signbit(x))
      << kind.name << " of " << x << " is " << got << ", expected " << expected;
  ASSERT_EQ(word_at(encode(kind.format, {x}), 0), bits);
}

class SmallFloat : public testing::TestWithParam<Kind> {};

TEST_P(SmallFloat, EveryValueWidensExactly) {
  const Kind& kind = GetParam();
  for (int h = 0; h < 65536; ++h) {
    const float wide = kind.widen(uint16_t(h));
    ASSERT_TRUE(same(wide, kind.exact(uint16_t(h)))) << kind.name << " " << h;
    const float decoded = decode(kind.format, {uint8_t(h), uint8_t(h >> 8)})[0];
    ASSERT_EQ(std::bit_cast<uint32_t>(decoded), std::bit_cast<uint32_t>(wide));
    if (std::isnan(wide))
      ASSERT_TRUE(std::isnan(kind.exact(kind.narrow(wide))) && (kind.narrow(wide) & kind.quiet_bit)) << h;
    else
      ASSERT_EQ(kind.narrow(wide), h);
  }
}

// Each value, the point half way to the next, and the fp32 neighbours of both.
TEST_P(SmallFloat, NarrowsToNearestEven) {
  const Kind& kind = GetParam();
  for (int h = 0; h < kind.infinity; ++h) {
    const double low = kind.exact(uint16_t(h)), high = h + 1 < kind.infinity ? kind.exact(uint16_t(h + 1)) : 2 * low;
    const double middle = h + 1 < kind.infinity ? (low + high) / 2 : low + (low - kind.exact(uint16_t(h - 1))) / 2;
    for (const float x : {float(low), float(middle)})
      for (const float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, INFINITY)})
        for (const float z : {y, -y}) expect_narrowed(kind, z);
    if (HasFatalFailure()) return;
  }
}

TEST_P(SmallFloat, NarrowsRandomValues) {
  Random random(5);
  for (int i = 0; i < 1'000'000 && !HasFatalFailure(); ++i) {
    const float x = std::bit_cast<float>(uint32_t(random()));
    if (std::isnan(x))
      ASSERT_TRUE(std::isnan(GetParam().exact(GetParam().narrow(x))));
    else if (std::isinf(x))
      ASSERT_EQ(GetParam().exact(GetParam().narrow(x)), x);
    else
      expect_narrowed(GetParam(), x);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SmallFloat, testing::Values(kHalf, kBfloat),
                         [](const auto& param) { return param.param.name; });

TEST(F32, KeepsEveryBit) {
  for (uint32_t bits : {0u, 0x80000000u, 1u, 0x007fffffu, 0x7f800000u, 0x7f800001u, 0xffc12345u, 0x3f800000u}) {
    std::vector<uint8_t> bytes(4);
    std::memcpy(bytes.data(), &bits, 4);
    const auto y = decode(Format::f32, bytes);
    EXPECT_EQ(std::memcmp(y.data(), &bits, 4), 0) << bits;
    EXPECT_EQ(encode(Format::f32, y), bytes) << bits;
  }
}

}  // namespace
}  // namespace soffit::test
