// TQ1_0 to floats, three ways: exact, bit for bit alike, and what each costs. The digits of a byte in fp16.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "check/blocks.hpp"
#include "core/half.hpp"
#include "metal/lane_dequantize.hpp"

namespace soffit::metal {
namespace {

using lanes::Cost;

// 304 blocks: as many elements as the write-up checked, 77,824. The first 256 have each byte value at each place.
constexpr size_t kBlocks = 304, kElements = kBlocks * 256;

std::vector<std::byte> blocks() {
  std::vector<std::byte> bytes(kBlocks * 54);
  checker::Random random(3);
  checker::fill_blocks(Format::tq1_0, checker::Blocks::any_bytes, random, bytes);
  for (size_t b = 0; b < 256; ++b) {
    for (size_t i = 0; i < 52; ++i) bytes[b * 54 + i] = std::byte(b + i);
  }
  return bytes;
}

Dequantized dequantized(std::string_view name, const LaneOptions& options = {.seed = 1}) {
  const auto* variant = find_dequantize_variant(Format::tq1_0, name);
  EXPECT_NE(variant, nullptr);
  auto result = run_dequantize(*variant, blocks(), options);
  EXPECT_TRUE(result) << result.error().message;
  for (const auto& fault : result->outcome.faults) ADD_FAILURE() << to_text(fault);
  return std::move(*result);
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Dequantize, AllWaysGiveTheReferencesBits) {
  std::vector<float> expected(kElements);
  info(Format::tq1_0).decode(blocks().data(), expected.data(), kBlocks);
  ASSERT_EQ(expected.size(), 77'824u);
  for (const DequantizeVariant& v : dequantize_variants()) {
    SCOPED_TRACE(v.name);
    EXPECT_TRUE(same_bits(dequantized(v.name).values, expected));
    EXPECT_TRUE(same_bits(dequantized(v.name, {.checked = false, .seed = {}, .threads = 2}).values, expected));
  }
}

// The write-up's change: integer work for every element, and none.
TEST(Dequantize, HoistedHasNoIntegerWork) {
  const auto integer = [](std::string_view name) {
    return dequantized(name).outcome.counts.slots[size_t(Cost::integer)];
  };
  EXPECT_GT(integer("element"), kElements);
  EXPECT_EQ(integer("hoisted"), 0u);
  EXPECT_EQ(integer("block"), 0u);
}

// Bytes of payload that lanes load, for each block. By strips of 16 elements the 48 bytes of five digits are read for
// each digit: 5 * 48 + 4. By bytes once: 52.
TEST(Dequantize, BlockReadsThePayloadOnce) {
  const auto bytes_read = [](std::string_view name) {
    uint64_t sum = 0;
    for (const auto& trace : dequantized(name, {.seed = 1, .traced_simdgroups = 100'000}).outcome.traces) {
      for (const auto& run : trace.runs) sum += run.bytes;
    }
    return sum;
  };
  EXPECT_EQ(bytes_read("element"), kBlocks * 244);
  EXPECT_EQ(bytes_read("hoisted"), kBlocks * 244);
  EXPECT_EQ(bytes_read("block"), kBlocks * 52);
  const auto counts = dequantized("block").outcome.counts;
  EXPECT_EQ(counts.passes, (kBlocks * 52 + 31) / 32);
  EXPECT_EQ(counts.useful, kBlocks * 52);
}

// fp16 for the digits of a byte: floor(3^k byte / 256) needs more than 11 bits, so differences of it are wrong 17 times
// in 1280: 0, 0, 2, 4 and 11 times for the five digits. The recurrence f <- frac(3 f) never needs more than 10.
TEST(Dequantize, DigitsInHalfPrecision) {
  const auto rounded = [](float x) { return half_to_float(float_to_half(x)); };
  std::array<int, 5> wrong{};
  int wrong_by_recurrence = 0;
  for (int byte = 0; byte < 256; ++byte) {
    int fraction = byte;
    float f = rounded(float(byte) / 256), power = 1, before = 0;
    for (int n = 0; n < 5; ++n) {
      const int digit = fraction * 3 >> 8;
      fraction = fraction * 3 & 255;
      power *= 3;
      const float after = std::floor(rounded(rounded(power) * rounded(float(byte) / 256)));
      const bool bad = int(rounded(after - rounded(3 * before))) != digit;
      wrong[size_t(n)] += bad;
      if (byte == 79 && n == 3) {
        EXPECT_TRUE(bad);
      }
      before = after;
      const float tripled = rounded(3 * f);
      wrong_by_recurrence += int(std::floor(tripled)) != digit;
      f = rounded(tripled - std::floor(tripled));
    }
  }
  EXPECT_EQ(wrong, (std::array<int, 5>{0, 0, 2, 4, 11}));
  EXPECT_EQ(wrong_by_recurrence, 0);
}

// A fifth activation of zero turns the sum for five digits into that for four, for every byte.
TEST(Dequantize, PaddedFifthDigitIsTheFourDigitForm) {
  const double y[5] = {1.25, -2.5, 3.75, 0.5, 0};
  for (int byte = 0; byte < 256; ++byte) {
    double five = 0, four = 0, power = 1;
    int fraction = byte;
    for (int k = 1; k <= 5; ++k) {
      power *= 3;
      const double floor = std::floor(power * byte / 256);
      five += floor * (k < 5 ? y[k - 1] - 3 * y[k] : y[4]);
      if (k <= 4) four += floor * (k < 4 ? y[k - 1] - 3 * y[k] : y[3]);
    }
    double digits = 0;
    for (int n = 0; n < 4; ++n) {
      digits += (fraction * 3 >> 8) * y[n];
      fraction = fraction * 3 & 255;
    }
    EXPECT_EQ(five, four) << byte;
    EXPECT_EQ(four, digits) << byte;
  }
}

}  // namespace
}  // namespace soffit::metal
