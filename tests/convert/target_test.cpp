// Which tensors are converted, and to what.
#include "convert/target.hpp"

#include <gmock/gmock.h>

#include <map>

#include "matrices.hpp"

namespace soffit::convert {
namespace {

using gguf::test::TemporaryDirectory;
using testing::HasSubstr;

std::vector<Format> all() {
  std::vector<Format> formats;
  for (const FormatInfo& format : all_formats())
    if (format.supported) formats.push_back(Format(format.id));
  return formats;
}

TEST(FormatThatFits, IsTheWantedOneWhereRowsAreWholeBlocks) {
  for (const Format format : all()) EXPECT_EQ(format_that_fits(format, 512), format);
}

TEST(FormatThatFits, HasBlocksOf32WhereThoseOf256DoNotFit) {
  const std::map<Format, Format> expected = {
      {Format::q2_k, Format::q4_0},  {Format::q3_k, Format::q4_0},  {Format::q4_k, Format::q5_0},
      {Format::q5_k, Format::q5_1},  {Format::q6_k, Format::q8_0},  {Format::iq4_xs, Format::iq4_nl},
      {Format::tq1_0, Format::q4_0}, {Format::tq2_0, Format::q4_0},
  };
  for (const Format format : all()) {
    const auto other = expected.find(format);
    EXPECT_EQ(format_that_fits(format, 576), other == expected.end() ? format : other->second) << info(format).name;
  }
}

TEST(FormatThatFits, IsF16WhereNoBlockFits) {
  for (const Format format : all())
    EXPECT_EQ(format_that_fits(format, 40), info(format).block_elements == 1 ? format : Format::f16);
}

class Targets : public testing::Test {
 protected:
  void SetUp() override {
    test::write_file(folder_ / "in.gguf", {{"token_embd.weight", {256, 4}},
                                           {"blk.0.attn_norm.weight", {256}},
                                           {"blk.0.attn_q.weight", {256, 3}},
                                           {"blk.0.attn_q.bias", {256}},
                                           {"blk.0.attn_k.weight", {96, 2}},
                                           {"blk.0.ffn_gate_inp.weight", {256, 8}},
                                           {"blk.0.ffn_up_exps.weight", {256, 2, 3}},
                                           {"blk.0.ssm_conv1d.weight", {4, 256}},
                                           {"some.table", {256, 2}}});
    file_ = test::open(folder_ / "in.gguf");
  }
  std::map<std::string, std::string> chosen(Format format, std::vector<Override> overrides = {}) {
    const auto targets = choose_targets(*file_, format, overrides);
    EXPECT_TRUE(targets) << targets.error().message;
    std::map<std::string, std::string> names;
    for (size_t i = 0; targets && i < targets->size(); ++i)
      names[std::string(file_->tensors()[i].name)] = (*targets)[i].format->name;
    return names;
  }
  std::string refused(std::vector<Override> overrides) {
    const auto targets = choose_targets(*file_, Format::q8_0, overrides);
    EXPECT_FALSE(targets);
    if (targets) return "";
    EXPECT_EQ(targets.error().code, Code::invalid_argument);
    return targets.error().message;
  }

  TemporaryDirectory folder_;
  std::shared_ptr<const gguf::File> file_;
};

TEST_F(Targets, MatricesAreConvertedAndTheRestStays) {
  const std::map<std::string, std::string> expected = {
      {"token_embd.weight", "q6_k"},        {"blk.0.attn_norm.weight", "f32"},  {"blk.0.attn_q.weight", "q6_k"},
      {"blk.0.attn_q.bias", "f32"},         {"blk.0.attn_k.weight", "q8_0"},    {"blk.0.ffn_gate_inp.weight", "f32"},
      {"blk.0.ffn_up_exps.weight", "q6_k"}, {"blk.0.ssm_conv1d.weight", "f32"}, {"some.table", "f32"},
  };
  EXPECT_EQ(chosen(Format::q6_k), expected);
}

TEST_F(Targets, WhatStandsInSaysWhatWasWanted) {
  const auto targets = choose_targets(*file_, Format::q6_k, {});
  ASSERT_TRUE(targets);
  for (size_t i = 0; i < targets->size(); ++i) {
    const bool narrow = file_->tensors()[i].name == "blk.0.attn_k.weight";
    EXPECT_EQ((*targets)[i].wanted, narrow ? std::optional(Format::q6_k) : std::nullopt) << file_->tensors()[i].name;
  }
}

TEST_F(Targets, TheLastPatternThatMatchesCounts) {
  const auto names = chosen(Format::q8_0, {{"blk.*", Format::q4_0}, {"blk.?.attn_[qv].weight", Format::q5_1}});
  EXPECT_EQ(names.at("token_embd.weight"), "q8_0");
  EXPECT_EQ(names.at("blk.0.attn_q.weight"), "q5_1");
  EXPECT_EQ(names.at("blk.0.attn_k.weight"), "q4_0");
  EXPECT_EQ(names.at("blk.0.ffn_up_exps.weight"), "q4_0");
}

TEST_F(Targets, PatternsReachMatricesThatOtherwiseStayButNoVector) {
  const auto names = chosen(Format::q8_0, {{"*", Format::q4_0}});
  EXPECT_EQ(names.at("blk.0.ffn_gate_inp.weight"), "q4_0");
  EXPECT_EQ(names.at("some.table"), "q4_0");
  EXPECT_EQ(names.at("blk.0.attn_norm.weight"), "f32");
  EXPECT_EQ(names.at("blk.0.attn_q.bias"), "f32");
}

TEST_F(Targets, APatternMatchesTheWholeName) {
  EXPECT_THAT(refused({{"attn_q", Format::q4_0}}), HasSubstr("'attn_q' matches none of the 7 matrices among 9"));
}

TEST_F(Targets, APatternThatMatchesNoMatrixIsRefused) {
  EXPECT_THAT(refused({{"token_embd.weight", Format::q4_0}, {"blk.1.*", Format::q4_0}}), HasSubstr("'blk.1.*'"));
  EXPECT_THAT(refused({{"*_norm.weight", Format::f16}}), HasSubstr("'*_norm.weight'"));
}

TEST(TargetsOfFormatsWithoutDecoder, AreRefusedByName) {
  TemporaryDirectory folder;
  const auto writer = gguf::Writer::create(folder / "in.gguf");
  ASSERT_TRUE(writer);
  const int64_t shape[] = {256, 2};
  ASSERT_TRUE((*writer)->describe("blk.0.attn_q.weight", find_format("iq2_xxs")->id, shape));
  ASSERT_TRUE((*writer)->write(std::vector<std::byte>(2 * 66)));
  ASSERT_TRUE((*writer)->finish());
  const auto targets = choose_targets(*test::open(folder / "in.gguf"), Format::q4_k, {});
  ASSERT_FALSE(targets);
  EXPECT_EQ(targets.error().code, Code::unsupported);
  EXPECT_THAT(targets.error().message, HasSubstr("'blk.0.attn_q.weight' is in iq2_xxs"));
}

}  // namespace
}  // namespace soffit::convert
