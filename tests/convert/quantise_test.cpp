// Requantised files: the right bytes, the right report, and nothing where something is wrong.
#include "convert/quantise.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "convert/file_type.hpp"
#include "matrices.hpp"

namespace soffit::convert {
namespace {

using gguf::test::read_bytes;
using gguf::test::TemporaryDirectory;
using test::Matrix;
using testing::ElementsAre;
using testing::HasSubstr;

// More than two bands that end amid a row, experts, and a vector.
const std::vector<Matrix> kMatrices = {{"token_embd.weight", {768, 201}},
                                       {"blk.0.attn_norm.weight", {256}},
                                       {"blk.0.attn_q.weight", {256, 3}},
                                       {"blk.0.ffn_up_exps.weight", {256, 2, 3}}};

std::vector<Matrix> matrices_in(Format format) {
  std::vector<Matrix> matrices = kMatrices;
  for (Matrix& matrix : matrices)
    if (matrix.shape.size() > 1) matrix.format = format;
  return matrices;
}

double root_mean_square(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
  return std::sqrt(sum / double(a.size()));
}

QuantiseOptions into(Format format, int threads = 1) {
  QuantiseOptions options;
  options.format = format, options.threads = threads;
  return options;
}

class QuantiseFile : public testing::Test {
 protected:
  Result<std::vector<QuantisedTensor>> run(const char* from, const char* to, const QuantiseOptions& options) {
    return quantise(*test::open(folder_ / from), folder_ / to, options);
  }
  TemporaryDirectory folder_;
};

class QuantiseInto : public QuantiseFile, public testing::WithParamInterface<Format> {};

TEST_P(QuantiseInto, EncodesEveryMatrixAndReportsItsError) {
  const Format format = GetParam();
  test::write_file(folder_ / "in.gguf", kMatrices);
  const auto report = run("in.gguf", "out.gguf", into(format, 2));
  ASSERT_TRUE(report) << report.error().message;
  const auto from = test::open(folder_ / "in.gguf"), to = test::open(folder_ / "out.gguf");
  ASSERT_EQ(to->tensors().size(), kMatrices.size());
  for (size_t i = 0; i < kMatrices.size(); ++i) {
    const gguf::Tensor &before = from->tensors()[i], &after = to->tensors()[i];
    const QuantisedTensor& line = (*report)[i];
    const Format expected = kMatrices[i].shape.size() == 1 ? Format::f32 : format;
    EXPECT_EQ(after.name, kMatrices[i].name);
    EXPECT_EQ(after.shape, kMatrices[i].shape);
    EXPECT_EQ(after.type_id, uint32_t(expected));
    EXPECT_EQ(line.name, kMatrices[i].name);
    EXPECT_EQ(line.from->id, uint32_t(Format::f32));
    EXPECT_EQ(line.to.format->id, after.type_id);
    const auto values = test::decoded(before);
    EXPECT_TRUE(std::ranges::equal(after.bytes, test::encoded(expected, values)));
    EXPECT_NEAR(line.rmse, root_mean_square(values, test::decoded(after)), 1e-9);
    if (expected != Format::f32) {
      EXPECT_NEAR(line.rms, root_mean_square(values, std::vector<float>(values.size())), 1e-9);
    }
  }
  if (format == Format::f32) return;  // nothing changed
  EXPECT_EQ(*to->find("general.file_type")->as_integer(), int64_t(file_type(format)));
  const gguf::Value* version = to->find("general.quantization_version");
  ASSERT_EQ(version != nullptr, info(format).block_elements > 1);
  if (version) {
    EXPECT_EQ(*version->as_integer(), 2);
  }
}

TEST_P(QuantiseInto, TheSameFormatChangesNoByte) {
  test::write_file(folder_ / "in.gguf", matrices_in(GetParam()), 64);
  const auto report = run("in.gguf", "out.gguf", into(GetParam(), 2));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(read_bytes(folder_ / "in.gguf"), read_bytes(folder_ / "out.gguf"));
  for (const QuantisedTensor& tensor : *report) EXPECT_EQ(tensor.rmse, 0);
}

TEST_P(QuantiseInto, F32FromTheFormatIsExact) {
  test::write_file(folder_ / "in.gguf", matrices_in(GetParam()));
  const auto report = run("in.gguf", "out.gguf", into(Format::f32));
  ASSERT_TRUE(report) << report.error().message;
  const auto from = test::open(folder_ / "in.gguf"), to = test::open(folder_ / "out.gguf");
  for (size_t i = 0; i < kMatrices.size(); ++i) {
    EXPECT_EQ(to->tensors()[i].type_id, uint32_t(Format::f32));
    EXPECT_EQ(test::decoded(to->tensors()[i]), test::decoded(from->tensors()[i]));
    EXPECT_EQ((*report)[i].rmse, 0);
  }
}

std::vector<Format> all() {
  std::vector<Format> formats;
  for (const FormatInfo& format : all_formats())
    if (format.supported) formats.push_back(Format(format.id));
  return formats;
}
INSTANTIATE_TEST_SUITE_P(Formats, QuantiseInto, testing::ValuesIn(all()),
                         [](const auto& test) { return std::string(soffit::info(test.param).name); });

TEST_F(QuantiseFile, DoesNotDependOnThreads) {
  test::write_file(folder_ / "in.gguf", kMatrices);
  const auto one = run("in.gguf", "1.gguf", into(Format::q4_0, 1));
  const auto five = run("in.gguf", "5.gguf", into(Format::q4_0, 5));
  ASSERT_TRUE(one && five);
  EXPECT_EQ(read_bytes(folder_ / "1.gguf"), read_bytes(folder_ / "5.gguf"));
  for (size_t i = 0; i < one->size(); ++i) EXPECT_EQ((*one)[i].rmse, (*five)[i].rmse);
}

TEST_F(QuantiseFile, KeepsOtherMetadataInItsOrder) {
  test::write_file(folder_ / "in.gguf", kMatrices);
  ASSERT_TRUE(run("in.gguf", "out.gguf", into(Format::q8_0)));
  std::vector<std::string> keys;
  const auto file = test::open(folder_ / "out.gguf");
  for (const auto& pair : file->metadata()) keys.emplace_back(pair.key);
  EXPECT_THAT(keys, ElementsAre("general.architecture", "general.file_type", "llama.block_count",
                                "general.quantization_version"));
}

TEST_F(QuantiseFile, ASplitModelBecomesOneFile) {
  test::write_file(folder_ / "in.gguf", kMatrices);
  ASSERT_TRUE(gguf::test::split_model(*test::open(folder_ / "in.gguf"), folder_ / "in", 3));
  ASSERT_TRUE(run("in.gguf", "whole.gguf", into(Format::q4_1)));
  ASSERT_TRUE(run("in-00001-of-00003.gguf", "joined.gguf", into(Format::q4_1)));
  EXPECT_EQ(read_bytes(folder_ / "whole.gguf"), read_bytes(folder_ / "joined.gguf"));
}

TEST_F(QuantiseFile, MayReplaceItsSource) {
  test::write_file(folder_ / "in.gguf", kMatrices);
  ASSERT_TRUE(run("in.gguf", "out.gguf", into(Format::q5_k)));
  ASSERT_TRUE(run("in.gguf", "in.gguf", into(Format::q5_k)));
  EXPECT_EQ(read_bytes(folder_ / "in.gguf"), read_bytes(folder_ / "out.gguf"));
}

TEST_F(QuantiseFile, TakesTensorsWithoutElements) {
  test::write_file(folder_ / "in.gguf", {{"no_rows.weight", {256, 3, 0}}, {"two_rows.weight", {256, 2}}});
  const auto report = run("in.gguf", "out.gguf", into(Format::q4_k));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ((*report)[0].rmse, 0);
  EXPECT_EQ((*report)[1].to.format->name, "q4_k");
}

// Each must leave what was there before, and no temporary file.
class QuantiseRefuses : public QuantiseFile {
 protected:
  void SetUp() override { gguf::test::write_bytes(folder_ / "out.gguf", kOld); }
  void TearDown() override {
    EXPECT_EQ(read_bytes(folder_ / "out.gguf"), kOld);
    EXPECT_THAT(folder_.entries(), ElementsAre("in.gguf", "out.gguf"));
  }
  static Matrix with(float value) {
    Matrix matrix{"blk.0.ffn_up.weight", {256, 300}, test::normal_values(256 * 300, 1)};
    matrix.values[70000] = value;
    return matrix;
  }
  const std::vector<std::byte> kOld = {std::byte('o'), std::byte('l'), std::byte('d')};
};

TEST_F(QuantiseRefuses, ValuesThatAreNotFinite) {
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    test::write_file(folder_ / "in.gguf", {with(value)});
    const auto report = run("in.gguf", "out.gguf", into(Format::q8_0));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Code::invalid_file);
    EXPECT_THAT(report.error().message, HasSubstr("'blk.0.ffn_up.weight' has 1 values that are not finite"));
  }
}

TEST_F(QuantiseRefuses, ValuesTooLargeForF16) {
  test::write_file(folder_ / "in.gguf", {with(-65520)});
  const auto report = run("in.gguf", "out.gguf", into(Format::f16));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::invalid_argument);
  EXPECT_THAT(report.error().message, HasSubstr("'blk.0.ffn_up.weight' has 1 values too large for f16"));
}

TEST_F(QuantiseRefuses, ToGoOnWhenToldToStop) {
  test::write_file(folder_ / "in.gguf", kMatrices);
  QuantiseOptions options = into(Format::q8_0);
  options.progress = [](uint64_t, uint64_t) { return false; };
  const auto report = run("in.gguf", "out.gguf", options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::cancelled);
}

}  // namespace
}  // namespace soffit::convert
