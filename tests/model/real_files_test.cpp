// The real model files against themselves: threads, layouts, key-value types, sequences side by side.
#include "real_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "allocations.hpp"
#include "model/perplexity.hpp"

namespace soffit::test {
namespace {

class RealFiles : public RealFileTest<const char*> {
  void SetUp() override { open(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Model, RealFiles, testing::Values("smollm2", "gemma3"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RealFiles, TextDoesNotDependOnThreads) {
  const std::string prompt = "Once upon a time, in a small village by the sea,";
  std::vector<text::TokenId> expected;
  for (const int threads : {1, 2, 3}) {
    BackendOptions options;
    options.threads = threads;
    const auto tokens = greedy(load_real(*path_, options), prompt, 12).tokens;
    if (threads == 1) expected = tokens;
    EXPECT_EQ(tokens, expected) << threads;
  }
  EXPECT_EQ(expected.size(), 12u);
}

TEST_P(RealFiles, TheFilesLayoutGivesWhatTheRepackedOneGives) {
  const std::string prompt = "The capital of France is";
  EXPECT_EQ(greedy(load_real(*path_, {}, Layout::file), prompt, 8).tokens, greedy(load_real(*path_), prompt, 8).tokens);
}

// More of it by hand: a token takes seconds there.
TEST_P(RealFiles, TextByMetalKernelsOnTheLanesIsTheExactOne) {
  if (const auto lanes = create_backend("metal-lanes", {}); !lanes) GTEST_SKIP() << "this build has no lane runner";
  const std::string prompt = "The capital of France is";
  BackendOptions exact;
  exact.exact = true;
  const auto expected = greedy(load_real(*path_, exact), prompt, 4).tokens;
  EXPECT_EQ(greedy(load_real(*path_, {}, Layout::automatic, "metal-lanes"), prompt, 4).tokens, expected);
  EXPECT_EQ(expected.size(), 4u);
}

TEST_P(RealFiles, KeysAndValuesInF16AreCloseToF32) {
  BackendOptions options;
  options.exact = true;  // rounded activations would turn the smallest difference into a larger one
  const RealModel real = load_real(*path_, options);
  const std::vector<int32_t> tokens = golden_["cases"]["story"]["tokens"];
  std::vector<float> logits[2];
  for (const DataType type : {DataType::f16, DataType::f32}) {
    auto session = take(model::Session::create(*real.model, {.context = 64, .batch = 64, .key_value_type = type}));
    const auto last = take(session->append(0, tokens));
    logits[type == DataType::f32].assign(last.begin(), last.end());
  }
  EXPECT_NE(logits[0], logits[1]);
  const model::LogSoftmax half(logits[0]), single(logits[1]);
  double divergence = 0;
  for (size_t i = 0; i < logits[0].size(); i++) divergence += std::exp(single[i]) * (single[i] - half[i]);
  EXPECT_LT(divergence, 1e-4);
}

TEST_P(RealFiles, TwoSequencesAtOnceAreTheTwoAlone) {
  const RealModel real = load_real(*path_);
  const std::vector<int32_t> first = golden_["cases"]["capital"]["tokens"], second = golden_["cases"]["code"]["tokens"];
  auto alone = take(model::Session::create(*real.model, {.context = 32, .batch = 1}));
  auto both = take(model::Session::create(*real.model, {.context = 32, .batch = 2, .outputs = 2, .sequences = 2}));
  std::vector<std::vector<float>> expected[2];
  for (const auto* tokens : {&first, &second}) {
    expect_ok(alone->truncate(0, 0));
    for (size_t i = 0; i < 8; i++) {
      const auto logits = take(alone->append(0, {&(*tokens)[i], 1}));
      expected[tokens == &second].emplace_back(logits.begin(), logits.end());
    }
  }
  const auto vocabulary = size_t(real.model->config().vocabulary);
  for (int32_t i = 0; i < 8; i++) {
    const std::vector<model::BatchRow> rows = {{first[size_t(i)], 0, i}, {second[size_t(i)], 1, i}};
    const auto logits = take(both->decode(rows, std::vector<int32_t>{0, 1}));
    for (size_t s = 0; s < 2; s++) {
      const auto row = logits.subspan(s * vocabulary, vocabulary);
      EXPECT_TRUE(std::ranges::equal(row, expected[s][size_t(i)])) << "sequence " << s << " position " << i;
    }
  }
}

TEST_P(RealFiles, NothingAllocatesPerToken) {
  const RealModel real = load_real(*path_);
  auto session = take(model::Session::create(*real.model, {.context = 32, .batch = 8}));
  const std::vector<int32_t> tokens = golden_["cases"]["capital"]["tokens"];
  take(session->append(0, {&tokens[0], 1}));
  const model::BatchRow row{tokens[1], 0, 1};
  constexpr int32_t kOnly = 0;
  EXPECT_GT(gguf::test::largest_allocation(), 0u) << "nothing is counted";
  gguf::test::reset_largest_allocation();
  const auto logits = session->decode({&row, 1}, {&kOnly, 1});
  EXPECT_EQ(gguf::test::largest_allocation(), 0u);
  EXPECT_TRUE(logits);
}

}  // namespace
}  // namespace soffit::test
