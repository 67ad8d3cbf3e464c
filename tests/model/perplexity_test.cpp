// Perplexity, divergence and the file of saved logits, against numbers worked out by hand and by definition.
#include "model/perplexity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "model/base_logits.hpp"
#include "runs.hpp"

namespace soffit::test {
namespace {

using model::BaseReader;
using model::BaseWriter;
using model::LogSoftmax;
using testing::ElementsAre;
using testing::HasSubstr;

std::filesystem::path temporary(const char* name) {
  return std::filesystem::path(testing::TempDir()) / ("soffit_" + std::to_string(getpid()) + "_" + name);
}

TEST(LogSoftmax, SumsToOneFarFromZero) {
  const std::vector<float> logits = {1000.0f, 1001.0f, 999.0f, -5000.0f};
  const LogSoftmax log_softmax(logits);
  EXPECT_EQ(log_softmax.top(), 1u);
  double sum = 0;
  for (size_t i = 0; i < logits.size(); i++) sum += std::exp(log_softmax[i]);
  EXPECT_NEAR(sum, 1, 1e-7);
  EXPECT_NEAR(log_softmax[0], 1 - std::log(std::exp(1.0) + std::exp(2.0) + 1), 1e-7);
}

TEST(PerplexitySum, IsTheExponentOfTheMean) {
  model::PerplexitySum sum;
  for (const double probability : {0.5, 0.25, 0.125}) sum.add(std::log(probability));
  EXPECT_NEAR(sum.perplexity(), 4, 1e-12);
  // Of -log2: mean 2, variance 2/3; over n - 1 = 2, and by the derivative of the exponential.
  EXPECT_NEAR(sum.standard_error(), 4 * std::log(2.0) * std::sqrt(2.0 / 3 / 2), 1e-12);
}

TEST(DivergenceSum, MeanQuantileAndTop) {
  model::DivergenceSum sum;
  for (int i = 0; i <= 200; i++) sum.add(i, i % 4 == 0);
  EXPECT_EQ(sum.mean(), 100);
  EXPECT_NEAR(sum.standard_error(), std::sqrt(202.0 / 12), 1e-9);
  EXPECT_NEAR(sum.quantile(0.99), 198, 1e-9);
  EXPECT_NEAR(sum.quantile(0.001), 0.2, 1e-9);
  EXPECT_NEAR(sum.same_top(), 51.0 / 201, 1e-12);
}

// std::sort may do anything with values that no order knows.
TEST(DivergenceSum, WhatIsNoNumberIsTheLargest) {
  model::DivergenceSum sum;
  EXPECT_TRUE(std::isnan(sum.quantile(0.5)));
  for (int i = 65; i > 0; i--) sum.add(i % 13 == 0 ? std::numeric_limits<double>::quiet_NaN() : i, false);
  EXPECT_EQ(sum.quantile(0), 1);
  EXPECT_EQ(sum.quantile(59.0 / 64), 64);
  EXPECT_TRUE(std::isnan(sum.quantile(59.5 / 64)));
  EXPECT_TRUE(std::isnan(sum.quantile(60.0 / 64)));
  EXPECT_TRUE(std::isnan(sum.quantile(1)));
}

TEST(CountWindows, OnlyFullOnesAndNeverFewerThanAsked) {
  const std::vector<int32_t> tokens(1000);
  EXPECT_EQ(take(model::count_windows(tokens, {.window = 100})), 10);
  EXPECT_EQ(take(model::count_windows(tokens, {.window = 300})), 3);
  EXPECT_EQ(take(model::count_windows(tokens, {.window = 300, .chunks = 2})), 2);
  const auto more = model::count_windows(tokens, {.window = 300, .chunks = 4});
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("1000 tokens, 3 windows of 300, of which 4 are needed"));
  EXPECT_FALSE(model::count_windows(tokens, {.window = 1001}));
  EXPECT_FALSE(model::count_windows(tokens, {.window = 3}));
}

// The second half of each window is scored, its last token only as what is predicted, with an empty context before.
TEST(ScoreWindows, ScoresWhatItSays) {
  const LoadedFile loaded = load(ModelFile::llama());
  std::vector<int32_t> tokens;
  for (int i = 0; i < 27; i++) tokens.push_back(i * 7 % 50);
  struct Score {
    int64_t chunk;
    int32_t token;
    std::vector<float> logits;
  };
  const auto scores = [&](int64_t batch, int64_t outputs) {
    std::vector<Score> all;
    const auto session = take(model::Session::create(
        *loaded.model, {.context = 12, .batch = batch, .outputs = outputs, .key_value_type = DataType::f32}));
    expect_ok(model::score_windows(*session, tokens, {.window = 12, .bos = 49}, [&](const model::ScoredToken& scored) {
      all.push_back({scored.chunk, scored.token, {scored.logits.begin(), scored.logits.end()}});
      return Status();
    }));
    return all;
  };
  std::vector<Score> expected;
  for (int64_t chunk = 0; chunk < 2; chunk++) {
    std::vector<int32_t> window(tokens.begin() + chunk * 12, tokens.begin() + chunk * 12 + 12);
    window[0] = 49;
    const auto logits = logits_of(*loaded.model, window);
    for (size_t i = 6; i < 11; i++) {
      expected.push_back(
          {chunk, window[i + 1], {logits.begin() + ptrdiff_t(i) * 50, logits.begin() + ptrdiff_t(i) * 50 + 50}});
    }
  }
  for (const auto& [batch, outputs] : {std::array{12, 12}, {12, 1}, {5, 2}, {4, 4}, {1, 1}}) {
    const auto got = scores(batch, outputs);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); i++) {
      EXPECT_EQ(got[i].chunk, expected[i].chunk);
      EXPECT_EQ(got[i].token, expected[i].token);
      EXPECT_EQ(got[i].logits, expected[i].logits) << "batch " << batch << " outputs " << outputs << " score " << i;
    }
  }
}

const std::vector<float> kBase = {0.0f, 2.0f, -1.0f, 1.0f, -30.0f}, kModel = {0.5f, 1.0f, -1.0f, 1.5f, 0.0f};

double divergence(std::span<const float> base, std::span<const float> other) {
  const LogSoftmax p(base), q(other);
  double sum = 0;
  for (size_t i = 0; i < base.size(); i++) sum += std::exp(p[i]) * (p[i] - q[i]);
  return sum;
}

TEST(BaseLogits, ComeBackNearEnough) {
  const auto path = temporary("base");
  {
    auto writer = take(BaseWriter::create(path, {4, 5, 1, {1, 2, 3, 4}}));
    expect_ok(writer.add(kBase, LogSoftmax(kBase)));
    expect_ok(writer.add(kModel, LogSoftmax(kModel)));
    expect_ok(writer.finish());
  }
  EXPECT_EQ(std::filesystem::file_size(path), 8 + 3 * 4 + 4 * 4 + 2 * (8 + 2 * 6));
  auto reader = take(BaseReader::open(path));
  EXPECT_EQ(reader.header().window, 4);
  EXPECT_EQ(reader.header().vocabulary, 5);
  EXPECT_EQ(reader.header().chunks, 1);
  EXPECT_THAT(reader.header().tokens, ElementsAre(1, 2, 3, 4));
  // A step is the range over 65,535, at most 16 / 65,535.
  const auto other = take(reader.compare(LogSoftmax(kModel)));
  EXPECT_NEAR(other.divergence, divergence(kBase, kModel), 16.0 / 65535);
  EXPECT_GT(other.divergence, 0.1);
  EXPECT_FALSE(other.same_top);
  const auto same = take(reader.compare(LogSoftmax(kModel)));
  EXPECT_NEAR(same.divergence, 0, 2e-8);
  EXPECT_TRUE(same.same_top);
  EXPECT_FALSE(reader.compare(LogSoftmax(kModel)));  // there are no more
  std::filesystem::remove(path);
}

TEST(BaseLogits, EqualLogitsHaveNoStep) {
  const auto path = temporary("flat");
  const std::vector<float> flat(6, 3.0f);
  {
    auto writer = take(BaseWriter::create(path, {4, 6, 1, {1, 2, 3, 4}}));
    expect_ok(writer.add(flat, LogSoftmax(flat)));
    expect_ok(writer.finish());
  }
  auto reader = take(BaseReader::open(path));
  EXPECT_NEAR(take(reader.compare(LogSoftmax(flat))).divergence, 0, 1e-6);
  std::filesystem::remove(path);
}

// A model that overflows: what is no number is written as the least, and a flat row has no step.
TEST(BaseLogits, LogitsThatAreNoNumbersAreWrittenAsTheLeast) {
  const auto path = temporary("nan");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits = {1.0f, nan, 3.0f, 2.0f};
  {
    auto writer = take(BaseWriter::create(path, {4, 4, 1, {0, 1, 2, 3}}));
    expect_ok(writer.add(logits, LogSoftmax(logits)));
    expect_ok(writer.finish());
  }
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(8 + 3 * 4 + 4 * 4 + 8);
  uint16_t codes[4];
  stream.read(reinterpret_cast<char*>(codes), sizeof codes);
  EXPECT_THAT(codes, ElementsAre(0, 0, 65535, testing::AnyOf(32767, 32768)));
  std::filesystem::remove(path);
}

TEST(BaseLogits, FaultyFilesAreRefused) {
  const auto path = temporary("faulty");
  const auto refusal = [&](std::string_view magic, std::vector<uint32_t> numbers) -> std::string {
    std::ofstream stream(path, std::ios::binary);
    stream << magic;
    stream.write(reinterpret_cast<const char*>(numbers.data()), std::streamsize(numbers.size() * 4));
    stream.close();
    const auto reader = BaseReader::open(path);
    return reader ? "accepted" : reader.error().message;
  };
  EXPECT_THAT(refusal("_logits", {}), HasSubstr("ends too early"));
  EXPECT_THAT(refusal("_Logits_", {4, 5, 1, 1, 2, 3, 4}), HasSubstr("no file of saved logits"));
  EXPECT_THAT(refusal("_logits_", {4, 5}), HasSubstr("ends too early"));
  EXPECT_THAT(refusal("_logits_", {4, 5, 1, 1, 2, 3}), HasSubstr("1 windows of 4 tokens"));
  EXPECT_THAT(refusal("_logits_", {4, 5, 0}), HasSubstr("0 windows of 4"));
  EXPECT_THAT(refusal("_logits_", {4, 0, 1, 1, 2, 3, 4}), HasSubstr("a vocabulary of 0"));
  EXPECT_THAT(refusal("_logits_", {0xffffffff, 5, 0xffffffff}), HasSubstr("4294967295 windows of 4294967295"));
  EXPECT_THAT(refusal("_logits_", {4, 0xffffffff, 1, 1, 2, 3, 4}), HasSubstr("a vocabulary of 4294967295"));
  // A row of five takes 8 + 2 * 6 bytes, one of 2^26 more than the file has: nothing of that size may be allocated.
  EXPECT_THAT(refusal("_logits_", {4, 5, 1, 1, 2, 3, 4, 0, 0, 0, 0}), HasSubstr("a vocabulary of 5, in 52 bytes"));
  EXPECT_THAT(refusal("_logits_", {4, 1 << 26, 1, 1, 2, 3, 4, 0, 0, 0, 0, 0}), HasSubstr("a vocabulary of 67108864"));
  EXPECT_EQ(refusal("_logits_", {4, 5, 1, 1, 2, 3, 4, 0, 0, 0, 0, 0}), "accepted");
  std::filesystem::remove(path);
  EXPECT_EQ(BaseReader::open(path).error().code, Code::io);
}

}  // namespace
}  // namespace soffit::test
