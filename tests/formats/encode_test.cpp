// The encoders: error on normal values, and blocks that have led encoders astray elsewhere.
#include <cstdio>
#include <limits>
#include <map>

#include "support.hpp"

namespace soffit::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max(), kLeast = std::numeric_limits<float>::denorm_min();

std::vector<Format> block_formats() {
  auto formats = formats_with_kernels();
  std::erase_if(formats, is_plain);
  return formats;
}

// Relative RMS error of ggml's reference quantisers on normal values.
const std::map<Format, double> kReferenceError = {
    {Format::q8_0, .00535},  {Format::q6_k, .01775}, {Format::q5_k, .0361},   {Format::q5_1, .0378},
    {Format::q5_0, .0427},   {Format::q4_k, .0714},  {Format::iq4_xs, .0768}, {Format::q4_1, .0782},
    {Format::iq4_nl, .0786}, {Format::q4_0, .0862},  {Format::mxfp4, .1153},  {Format::q3_k, .1511},
    {Format::q2_k, .2968},   {Format::tq1_0, .804},  {Format::tq2_0, .804},
};

class Encode : public EachFormat {
 protected:
  std::vector<float> round_trip(const std::vector<float>& x) { return decode(format, encode(format, x)); }

  // One block: every value of it finite, and every fp16 field.
  void expect_finite(const std::vector<float>& x, const char* what) {
    const auto block = encode(format, x);
    for (int field : oracle::half_fields(format))
      EXPECT_TRUE(std::isfinite(oracle::half(word_at(block, field))))
          << f.name << " of " << what << ": field at " << field;
    for (float v : decode(format, block)) ASSERT_TRUE(std::isfinite(v)) << f.name << " of " << what;
  }
};

// ||y - x|| / ||x||
double relative_error(const std::vector<float>& x, const std::vector<float>& y) {
  double error = 0, power = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    error += (double(y[i]) - x[i]) * (double(y[i]) - x[i]);
    power += double(x[i]) * x[i];
  }
  return std::sqrt(error / power);
}

TEST_P(Encode, ErrorOnNormalValues) {
  Random random(6);
  const auto x = normal_values(1 << 20, random);
  const double relative = relative_error(x, round_trip(x)), limit = 1.005 * kReferenceError.at(format);
  std::printf("%-7s relative RMS error %.5f, limit %.5f\n", f.name.data(), relative, limit);
  EXPECT_LE(relative, limit);
  EXPECT_GE(relative, 0.85 * kReferenceError.at(format)) << "too good to be true: is the input normal?";
}

// As small as the weights of large layers: d is then subnormal in fp16, which must not cost more than 1 %.
TEST_P(Encode, ErrorOnSmallValues) {
  Random random(14);
  auto x = normal_values(1 << 18, random);
  const double ordinary = relative_error(x, round_trip(x));
  for (float& v : x) v *= 0.002f;
  EXPECT_LE(relative_error(x, round_trip(x)), 1.01 * ordinary) << f.name;
}

// A power of two more or less changes no code as long as the scales are normal fp16 numbers.
TEST_P(Encode, FollowsPowersOfTwo) {
  Random random(7);
  const auto x = normal_values(32 * f.block_elements, random), y = round_trip(x);
  for (int exponent : {-3, 1, 5}) {
    auto scaled = x;
    for (float& v : scaled) v = std::ldexp(v, exponent);
    const auto got = round_trip(scaled);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got[i], std::ldexp(y[i], exponent)) << f.name << " value " << i;
  }
}

TEST_P(Encode, WritesEveryByteTheSameWayEachTime) {
  Random random(8);
  auto x = normal_values(16 * f.block_elements, random);
  std::fill_n(x.begin(), f.block_elements, 0.0f);
  const auto bytes = encode(format, x, 0x00);
  EXPECT_EQ(encode(format, x, 0xff), bytes);
  for (int block = 0; block < 16; ++block) {
    const std::vector<float> one(x.begin() + block * f.block_elements, x.begin() + (block + 1) * f.block_elements);
    const std::vector<uint8_t> alone = encode(format, one, 0x5a);
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(), bytes.begin() + block * f.block_bytes)) << f.name;
  }
}

// auto-round #1908: one scale that is not a number spoils every logit.
TEST_P(Encode, ZeroBlock) {
  for (float zero : {0.0f, -0.0f}) {
    const std::vector<float> x(f.block_elements, zero);
    const auto block = encode(format, x);
    for (int field : oracle::half_fields(format))
      EXPECT_EQ(word_at(block, field), 0) << f.name << " field at " << field;
    for (float v : decode(format, block)) ASSERT_EQ(v, 0) << f.name;
  }
}

// Below what a scale in fp16 can hold: d is 0, never NaN. MXFP4's scale reaches further down.
TEST_P(Encode, VanishingBlocks) {
  Random random(9);
  for (float magnitude : {1e-11f, 1e-20f, 1e-30f, std::numeric_limits<float>::min(), 1e-42f, kLeast}) {
    auto x = normal_values(f.block_elements, random);
    for (float& v : x) v *= magnitude;
    const std::vector<float> constant(f.block_elements, magnitude);
    std::vector<float> single(f.block_elements);
    single[f.block_elements / 2] = -magnitude;
    for (const auto& values : {x, constant, single}) {
      expect_finite(values, "tiny values");
      const auto block = encode(format, values);
      for (int field : oracle::half_fields(format))
        EXPECT_EQ(word_at(block, field) & 0x7fff, 0) << f.name << " " << magnitude;
      if (format == Format::mxfp4) continue;
      for (float v : decode(format, block)) ASSERT_EQ(v, 0) << f.name << " " << magnitude;
    }
  }
}

TEST_P(Encode, SingleNonzeroValueAtEveryPlace) {
  for (uint32_t place = 0; place < f.block_elements; ++place)
    for (float value : {1.0f, -1.0f, 0.125f, 1024.0f}) {
      std::vector<float> x(f.block_elements);
      x[place] = value;
      const auto y = round_trip(x);
      for (uint32_t i = 0; i < f.block_elements; ++i)
        ASSERT_NEAR(y[i] / value, i == place ? 1 : 0, 0.01)
            << f.name << ": " << value << " at " << place << ", element " << i;
    }
}

// One value far above the others must be kept; the others may be lost, but not spoilt.
TEST_P(Encode, SingleOutlier) {
  Random random(10);
  for (float outlier : {50.0f, -3e4f}) {
    auto x = normal_values(f.block_elements, random);
    x[f.block_elements / 3] = outlier;
    const auto y = round_trip(x);
    for (uint32_t i = 0; i < f.block_elements; ++i)
      ASSERT_NEAR(y[i] / outlier, x[i] / outlier, i == f.block_elements / 3 ? 0.3 : 0.2) << f.name << " element " << i;
  }
}

// One value in a block of far smaller ones: the inverse of a vanishing group's scale must not become a code.
TEST_P(Encode, GroupsThatVanishBesideOthers) {
  for (int exponent : {-40, -60, -80, -126, -149}) {
    std::vector<float> x(f.block_elements);
    for (size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(float(int(i % 3) - 1), exponent);
    x[0] = 1;
    const auto y = round_trip(x);
    ASSERT_NEAR(y[0], 1, 0.2) << f.name << " at 2^" << exponent;
    for (size_t i = 1; i < y.size(); ++i)
      ASSERT_NEAR(y[i], 0, 0.2) << f.name << " at 2^" << exponent << " element " << i;
  }
}

TEST_P(Encode, InputThatIsNotFiniteOrTooLarge) {
  Random random(11);
  const uint32_t n = f.block_elements;
  for (float odd : {kNaN, -kNaN, kInfinity, -kInfinity, kLargest, -kLargest, 1e30f, -1e10f, kLeast}) {
    expect_finite(std::vector<float>(n, odd), "one value");
    auto x = normal_values(n, random);
    for (uint32_t i = 0; i < n; i += 5) x[i] = odd;
    expect_finite(x, "a mixture");
    std::vector<float> single(n);
    single[n - 1] = odd;
    expect_finite(single, "a single value");
  }
  auto x = normal_values(n, random);
  for (uint32_t i = 0; i < n; ++i) x[i] = i % 3 == 0 ? kInfinity : i % 3 == 1 ? -kLargest : kLeast;
  expect_finite(x, "extremes");
  for (auto& v : x) v = std::bit_cast<float>(uint32_t(random()));
  expect_finite(x, "random bits");
}

TEST_P(Encode, NaNCountsAsZero) {
  Random random(12);
  auto x = normal_values(f.block_elements, random), zeroed = x;
  for (uint32_t i = 0; i < f.block_elements; i += 7) x[i] = kNaN, zeroed[i] = 0;
  EXPECT_EQ(encode(format, x), encode(format, zeroed)) << f.name;
}

TEST_P(Encode, TooLargeBecomesTheLargest) {
  for (float huge : {1e30f, kInfinity, -kLargest}) {
    const auto y = round_trip(std::vector<float>(f.block_elements, huge));
    for (float v : y) ASSERT_GE(std::copysign(1.0f, huge) * v, 65504) << f.name << " of " << huge;
  }
}

// The bytes are the same from every compiler and on every machine: their hash. It changes only with an encoder.
const std::map<Format, uint64_t> kEncodedHash = {
    {Format::q4_0, 0xf34458a3479dc5e1},  {Format::q4_1, 0x5783a23dc34ea7af},   {Format::q5_0, 0xe4dd770eb7c670bb},
    {Format::q5_1, 0x79e4b6587de47561},  {Format::q8_0, 0x54b54551bc3d507d},   {Format::q2_k, 0x4c72ccb597377de0},
    {Format::q3_k, 0xf8bbf6f7191ae3a5},  {Format::q4_k, 0x876680eeb0851270},   {Format::q5_k, 0x1fb8686e8cd1a873},
    {Format::q6_k, 0x0a6a97c247ee11a8},  {Format::iq4_nl, 0xa057ab88aa71dcf2}, {Format::iq4_xs, 0xdc8fd8d4344c9581},
    {Format::tq1_0, 0x10a97e761ad4b6a9}, {Format::tq2_0, 0xc83f2256242f50a2},  {Format::mxfp4, 0xd14eb9f42ce6a232},
};

TEST_P(Encode, SameBytesEverywhere) {
  Random random(15);
  std::vector<float> x(64 * f.block_elements);
  for (float& v : x) {  // near to normal, without a mathematical function
    const uint64_t r = random();
    const int sum = int(r & 0xffff) + int(r >> 16 & 0xffff) - int(r >> 32 & 0xffff) - int(r >> 48);
    v = float(sum) * 0x1p-16f;
  }
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (uint8_t byte : encode(format, x)) hash = (hash ^ byte) * 0x100000001b3;
  const auto kept = kEncodedHash.find(format);
  EXPECT_EQ(kept == kEncodedHash.end() ? 0 : kept->second, hash) << f.name;
}

INSTANTIATE_TEST_SUITE_P(Formats, Encode, testing::ValuesIn(block_formats()), format_name);

// Every value of the block's own is kept: no error where none is needed.
TEST(EncodeExact, ValuesThatTheFormatHolds) {
  Random random(13);
  for (Format format : {Format::tq1_0, Format::tq2_0, Format::mxfp4}) {
    const FormatInfo& f = info(format);
    std::vector<float> x(64 * f.block_elements);
    const float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    for (float& v : x) {
      const uint64_t r = random();
      v = format == Format::mxfp4 ? e2m1[r % 8] : float(r % 3) - 1;
      v *= (r >> 32) % 2 ? 0.375f : -0.375f;
    }
    for (size_t i = 0; i < x.size(); i += f.block_elements) x[i] = format == Format::mxfp4 ? 6 * 0.375f : 0.375f;
    if (format == Format::mxfp4)
      for (float& v : x) v /= 0.375f;
    EXPECT_EQ(decode(format, encode(format, x)), x) << f.name;
  }
}

}  // namespace
}  // namespace soffit::test
