// The real model files against what llama.cpp says (golden/make_golden.py), and against themselves on other paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "allocations.hpp"
#include "model/generator.hpp"
#include "model/perplexity.hpp"
#include "models.hpp"
#include "runs.hpp"
#include "text/load_tokenizer.hpp"

namespace soffit::test {
namespace {

using Json = nlohmann::json;

// llama.cpp and soffit round activations to 8 bits, in different groups. Against logits without any rounding
// (--exact), each is off by 0.1 to 0.25 root mean square in the log-probabilities of the five likeliest, and by as much
// from the other. A gap of several times that must not turn.
constexpr double kRootMeanSquareBound = 0.3, kDecisiveGap = 1.2;

Json golden(const std::string& name) {
  std::ifstream file(std::string(SOFFIT_GOLDEN_DIR) + "/" + name + ".json");
  return Json::parse(file);
}

struct RealModel {
  std::shared_ptr<const gguf::File> file;
  std::shared_ptr<const text::Tokenizer> tokenizer;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<const model::Model> model;
};

RealModel load_real(const std::filesystem::path& path, const BackendOptions& options = {},
                    Layout layout = Layout::automatic) {
  RealModel real;
  real.file = take(gguf::File::open(path));
  real.tokenizer = take(text::load_tokenizer(*real.file));
  real.backend = take(create_backend("cpu", options));
  real.model = take(model::Model::load(real.file, *real.backend, {layout, {}}));
  return real;
}

model::Generation greedy(const RealModel& real, const std::string& prompt, int64_t count,
                         DataType type = DataType::f16) {
  auto session = take(model::Session::create(*real.model, {.context = 256, .batch = 64, .key_value_type = type}));
  auto sampler = take(text::Sampler::create({.temperature = 0}));
  model::Generator generator(*session, *real.tokenizer, sampler);
  const auto tokens = take(real.tokenizer->encode(prompt, {.add_special = true, .parse_special = true}));
  return take(generator.generate(tokens, {.max_tokens = count}));
}

class RealFiles : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    golden_ = golden(GetParam());
    const std::string file = golden_["file"];
    path_ = gguf::test::find_model(file);
    if (!path_) GTEST_SKIP() << "no model: " << file << " (SOFFIT_TEST_MODEL_DIR)";
  }
  Json golden_;
  std::optional<std::filesystem::path> path_;
};

INSTANTIATE_TEST_SUITE_P(Model, RealFiles, testing::Values("smollm2", "gemma3"),
                         [](const auto& info) { return std::string(info.param); });

// llama.cpp's own tokens are fed, so that one turned tie does not hide what comes after it.
TEST_P(RealFiles, PredictsWhatLlamaCppPredicts) {
  const RealModel real = load_real(*path_);
  double squares = 0;
  int compared = 0, decisive = 0;
  for (const Json& entry : golden_["entries"]) {
    const std::vector<int32_t> prompt = entry["prompt_tokens"], tokens = entry["tokens"];
    EXPECT_EQ(take(real.tokenizer->encode(std::string(entry["prompt"]), {.parse_special = true})), prompt);
    auto session = take(model::Session::create(*real.model, {.context = 256, .batch = 64}));
    auto logits = take(session->append(0, prompt));
    for (size_t i = 0; i < tokens.size(); i++) {
      const model::LogSoftmax log_softmax(logits);
      const Json& top = entry["top"][i];
      for (const Json& likely : top) {
        squares += std::pow(log_softmax[size_t(likely[0])] - double(likely[1]), 2);
        compared++;
      }
      if (double(top[0][1]) - double(top[1][1]) > kDecisiveGap) {
        EXPECT_EQ(int32_t(log_softmax.top()), tokens[i]) << entry["prompt"] << " token " << i;
        decisive++;
      }
      if (i + 1 < tokens.size()) logits = take(session->append(0, {&tokens[i], 1}));
    }
  }
  EXPECT_GT(decisive, compared / 5 / 3);
  const double root_mean_square = std::sqrt(squares / compared);
  EXPECT_LT(root_mean_square, kRootMeanSquareBound);
  RecordProperty("root_mean_square", std::to_string(root_mean_square));
}

TEST_P(RealFiles, TextDoesNotDependOnThreads) {
  const std::string prompt = "Once upon a time, in a small village by the sea,";
  std::vector<text::TokenId> expected;
  for (const int threads : {1, 2, 3}) {
    BackendOptions options;
    options.threads = threads;
    const auto tokens = greedy(load_real(*path_, options), prompt, 24).tokens;
    if (threads == 1) expected = tokens;
    EXPECT_EQ(tokens, expected) << threads;
  }
  EXPECT_EQ(expected.size(), 24u);
}

TEST_P(RealFiles, TheFilesLayoutGivesWhatTheRepackedOneGives) {
  const std::string prompt = "The capital of France is";
  EXPECT_EQ(greedy(load_real(*path_, {}, Layout::file), prompt, 16).tokens,
            greedy(load_real(*path_), prompt, 16).tokens);
}

TEST_P(RealFiles, KeysAndValuesInF16AreCloseToF32) {
  BackendOptions options;
  options.exact = true;  // rounded activations would turn the smallest difference into a larger one
  const RealModel real = load_real(*path_, options);
  const std::vector<int32_t> tokens = golden_["entries"][1]["tokens"];
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
  const std::vector<int32_t> first = golden_["entries"][0]["tokens"], second = golden_["entries"][2]["tokens"];
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
  const std::vector<int32_t> tokens = golden_["entries"][0]["tokens"];
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
