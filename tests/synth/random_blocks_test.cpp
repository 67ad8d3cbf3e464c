// Random blocks: of the right size, finite, such as an encoder writes, and the same everywhere.
#include "synth/random_blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/blocks.h"

namespace soffit::synth {
namespace {

constexpr size_t kElements = 1 << 18;

class RandomBlocks : public testing::TestWithParam<const FormatInfo*> {
 protected:
  const FormatInfo& format_ = *GetParam();
  size_t blocks_ = kElements / format_.block_elements;

  std::vector<std::byte> blocks(uint64_t seed, double deviation = 0.02) const {
    std::vector<std::byte> bytes(blocks_ * format_.block_bytes);
    random_blocks(Format(format_.id), seed, deviation, bytes);
    return bytes;
  }
  std::vector<float> decoded(const std::vector<std::byte>& bytes) const {
    std::vector<float> values(bytes.size() / format_.block_bytes * format_.block_elements);
    format_.decode(bytes.data(), values.data(), bytes.size() / format_.block_bytes);
    return values;
  }
};

TEST_P(RandomBlocks, HaveMeanZeroAndTheDeviationAskedFor) {
  for (const double deviation : {0.005, 0.02, 1.0}) {
    const auto values = decoded(blocks(1, deviation));
    double sum = 0, squares = 0;
    for (const float value : values) {
      ASSERT_TRUE(std::isfinite(value));
      sum += value, squares += double(value) * value;
    }
    // Weights of a group share a scale, and blocks of some formats a mean.
    EXPECT_NEAR(sum / kElements / deviation, 0, 0.02) << deviation;
    EXPECT_NEAR(std::sqrt(squares / kElements) / deviation, 1, 0.02) << deviation;
  }
}

TEST_P(RandomBlocks, AreTheSameForASeedAndDifferForTwo) {
  EXPECT_EQ(blocks(7), blocks(7));
  EXPECT_NE(blocks(7), blocks(8));
}

TEST_P(RandomBlocks, DifferFromBlockToBlock) {
  const auto bytes = blocks(3);
  std::set<std::vector<std::byte>> distinct;
  for (size_t i = 0; i < 256; ++i)
    distinct.insert(
        {bytes.begin() + ptrdiff_t(i * format_.block_bytes), bytes.begin() + ptrdiff_t((i + 1) * format_.block_bytes)});
  // Values of two bytes may meet by chance.
  EXPECT_GE(distinct.size(), format_.block_elements > 1 ? 256u : 200u);
}

// FNV-1a of the first 4096 weights for seed 1: the meaning of a seed on every machine and compiler.
TEST_P(RandomBlocks, AreTheSameOnEveryMachine) {
  static const std::map<std::string_view, uint64_t> kPinned = {
      {"bf16", 0xF1F559EA4D593E02},   {"f16", 0xD3E27B67D2DEE32A},    {"f32", 0xA80037A267A89410},
      {"iq4_nl", 0x574953C21586F16E}, {"iq4_xs", 0xF81CAD7C43FB0C4F}, {"mxfp4", 0x55C1EA28DF747FA6},
      {"q2_k", 0x0171DBAC4DCD1A43},   {"q3_k", 0x2FB6A3FA08A4E6F3},   {"q4_0", 0x2DEDFB0165C968C9},
      {"q4_1", 0x75ACC459F56A776D},   {"q4_k", 0x82F66F9B95C94F0A},   {"q5_0", 0x55AE5434F09AEDF6},
      {"q5_1", 0x3E42A793FB17E6F7},   {"q5_k", 0x237F125D3F426C96},   {"q6_k", 0x0E9930F114E74C45},
      {"q8_0", 0x9A31B66F740A6C02},   {"tq1_0", 0x39BFB2B47FD5EEC2},  {"tq2_0", 0x7BE2929F41F5ED89},
  };
  std::vector<std::byte> bytes(4096 / format_.block_elements * format_.block_bytes);
  random_blocks(Format(format_.id), 1, 0.02, bytes);
  uint64_t hash = 0xCBF29CE484222325u;
  for (const std::byte byte : bytes) hash = (hash ^ uint64_t(byte)) * 0x100000001B3u;
  const auto pinned = kPinned.find(format_.name);
  EXPECT_EQ(hash, pinned == kPinned.end() ? 0 : pinned->second)
      << "{\"" << format_.name << "\", 0x" << std::hex << hash << "}";
}

std::vector<const FormatInfo*> formats() {
  std::vector<const FormatInfo*> formats;
  for (const FormatInfo& format : all_formats())
    if (format.supported) formats.push_back(&format);
  return formats;
}
INSTANTIATE_TEST_SUITE_P(Formats, RandomBlocks, testing::ValuesIn(formats()),
                         [](const auto& test) { return std::string(test.param->name); });

// No code that encoders never write: then encoding what was decoded gives the same bytes.
TEST(RandomBlocksOfTernaryFormats, AreWhatTheEncoderWrites) {
  for (const Format format : {Format::tq1_0, Format::tq2_0}) {
    const FormatInfo& f = info(format);
    std::vector<std::byte> bytes(1000 * f.block_bytes), again(bytes.size());
    random_blocks(format, 5, 0.02, bytes);
    std::vector<float> values(1000 * f.block_elements);
    f.decode(bytes.data(), values.data(), 1000);
    f.encode(values.data(), again.data(), 1000);
    EXPECT_EQ(bytes, again) << f.name;
  }
}

TEST(RandomBlocksOfQ8_0, LeaveOutTheCodeThatHasNoOpposite) {
  std::vector<std::byte> bytes(10000 * sizeof(BlockQ8_0));
  random_blocks(Format::q8_0, 5, 0.02, bytes);
  std::set<int> codes;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (i % sizeof(BlockQ8_0) >= 2) codes.insert(int(int8_t(bytes[i])));
  EXPECT_EQ(codes.size(), 255u);
  EXPECT_FALSE(codes.contains(-128));
}

TEST(DeriveSeed, GivesDistinctSeeds) {
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 100; ++seed)
    for (uint64_t number = 0; number < 100; ++number) seeds.insert(derive_seed(seed, number));
  EXPECT_EQ(seeds.size(), 10000u);
}

}  // namespace
}  // namespace soffit::synth
