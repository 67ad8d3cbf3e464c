// Synthetic files: readers accept them, the model runs them, and its logits are finite and varied.
#include "synth/synth.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "files.hpp"
#include "model/session.hpp"
#include "synth/metadata.hpp"
#include "text/load_tokenizer.hpp"

namespace soffit::synth {
namespace {

using gguf::test::read_bytes;
using gguf::test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;

Shape shape(std::string_view name) { return *find_shape(name); }
SynthOptions options(uint64_t seed, int threads) {
  SynthOptions options;
  options.seed = seed, options.threads = threads;
  return options;
}
Mix mix(std::string_view name) { return *Mix::find(name); }

class Synthetic : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    const auto [shape_name, mix_name] = GetParam();
    const auto report = synthesise(shape(shape_name), mix(mix_name), folder_ / "m.gguf", options(3, 2));
    ASSERT_TRUE(report) << report.error().message;
    auto file = gguf::File::open(folder_ / "m.gguf");
    ASSERT_TRUE(file) << file.error().message;
    file_ = *file;
  }
  TemporaryDirectory folder_;
  std::shared_ptr<const gguf::File> file_;
};

// qwen3-tiny is tied, llama-tiny has RoPE factors and grouped values, qwen3moe-tiny has experts.
INSTANTIATE_TEST_SUITE_P(Files, Synthetic,
                         testing::Combine(testing::Values("qwen3-tiny", "qwen3moe-tiny", "llama-tiny"),
                                          testing::Values("q8_0", "q6_k", "q4_k_m", "ud-q4_k_xl", "iq4_xs", "tq1_0",
                                                          "tq2_0", "f16", "bf16", "f32")),
                         [](const auto& test) {
                           std::string name = std::string(std::get<0>(test.param)) + "_" + std::get<1>(test.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(Synthetic, SaysThatItIs) {
  EXPECT_TRUE(*file_->find(kSyntheticKey)->as_boolean());
  EXPECT_EQ(*file_->find("soffit.synthetic.seed")->as_integer(), 3);
  EXPECT_THAT(std::string(*file_->find("general.name")->as_string()), HasSubstr("random weights"));
}

TEST_P(Synthetic, HasATokenizer) {
  const auto tokenizer = text::load_tokenizer(*file_);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_TRUE((*tokenizer)->vocabulary().warnings.empty());
  EXPECT_EQ(int64_t((*tokenizer)->vocabulary_size()), shape(std::get<0>(GetParam())).vocabulary);
}

TEST_P(Synthetic, RunsWithFiniteAndVariedLogits) {
  const auto backend = create_backend("cpu", {});
  ASSERT_TRUE(backend) << backend.error().message;
  const auto model = model::Model::load(file_, **backend);
  ASSERT_TRUE(model) << model.error().message;
  model::SessionOptions session_options;
  session_options.context = 64;
  const auto session = model::Session::create(**model, session_options);
  ASSERT_TRUE(session) << session.error().message;
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 40; ++i) tokens.push_back(i * 25);
  std::vector<float> first;
  for (size_t n : {20, 20}) {
    const auto logits = (*session)->append(0, std::span(tokens).subspan(tokens.size() - n, n));
    ASSERT_TRUE(logits) << logits.error().message;
    double sum = 0, squares = 0;
    for (const float logit : *logits) {
      ASSERT_TRUE(std::isfinite(logit));
      sum += logit, squares += double(logit) * logit;
    }
    const double mean = sum / double(logits->size());
    const double deviation = std::sqrt(squares / double(logits->size()) - mean * mean);
    EXPECT_GT(deviation, 2);
    EXPECT_LT(deviation, 8);
    const std::vector<float> values(logits->begin(), logits->end());
    EXPECT_NE(values, first) << "logits do not depend on the context";
    first = values;
  }
}

TEST(Synth, TheSeedAloneDecidesTheBytes) {
  TemporaryDirectory folder;
  ASSERT_TRUE(synthesise(shape("qwen3-tiny"), mix("q4_k_m"), folder / "a", options(1, 1)));
  ASSERT_TRUE(synthesise(shape("qwen3-tiny"), mix("q4_k_m"), folder / "b", options(1, 5)));
  ASSERT_TRUE(synthesise(shape("qwen3-tiny"), mix("q4_k_m"), folder / "c", options(2, 1)));
  EXPECT_EQ(read_bytes(folder / "a"), read_bytes(folder / "b"));
  const auto a = gguf::File::open(folder / "a"), c = gguf::File::open(folder / "c");
  ASSERT_TRUE(a && c);
  for (const gguf::Tensor& tensor : (*a)->tensors())
    EXPECT_FALSE(std::ranges::equal(tensor.bytes, (*c)->tensor(tensor.name)->bytes)) << tensor.name;
}

TEST(Synth, NoTwoTensorsAreAlike) {
  TemporaryDirectory folder;
  ASSERT_TRUE(synthesise(shape("qwen3-tiny"), mix("q8_0"), folder / "a", {}));
  const auto file = gguf::File::open(folder / "a");
  ASSERT_TRUE(file);
  const auto tensors = (*file)->tensors();
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_FALSE(std::ranges::equal(tensors[i].bytes, tensors[j].bytes)) << tensors[i].name << tensors[j].name;
}

// Frequencies of Llama 3.1 8B whose wavelengths are short stay, long ones are divided by 8.
TEST(Synth, RopeFactorsFadeFromOneToTheStretch) {
  TemporaryDirectory folder;
  Shape wide = shape("llama-tiny");
  wide.head_dim = 128, wide.heads = 2, wide.key_value_heads = 1;
  ASSERT_TRUE(synthesise(wide, mix("f16"), folder / "a", {}));
  const auto file = gguf::File::open(folder / "a");
  ASSERT_TRUE(file);
  const gguf::Tensor* tensor = (*file)->tensor("rope_freqs.weight");
  ASSERT_TRUE(tensor);
  ASSERT_EQ(tensor->elements(), 64);
  std::vector<float> factors(64);
  std::copy_n(reinterpret_cast<const std::byte*>(tensor->bytes.data()), 256,
              reinterpret_cast<std::byte*>(factors.data()));
  EXPECT_TRUE(std::ranges::is_sorted(factors));
  // Pair 28 turns 2*pi*500000^(28/64) tokens long: 1956 < 8192/4. Pair 35: 8218 > 8192/1.
  EXPECT_EQ(factors[28], 1);
  EXPECT_GT(factors[29], 1);
  EXPECT_LT(factors[34], 8);
  EXPECT_EQ(factors[35], 8);
}

TEST(Synth, RefusesAMixThatDoesNotFitTheShape) {
  TemporaryDirectory folder;
  Shape narrow = shape("qwen3-tiny");
  narrow.embedding = 288;
  const auto report = synthesise(narrow, mix("q4_k_m"), folder / "a", {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::invalid_argument);
  EXPECT_THAT(report.error().message, HasSubstr("'token_embd.weight' of qwen3-tiny: a row of 288 columns in q6_k"));
  EXPECT_TRUE(folder.entries().empty());
}

TEST(Synth, LeavesNothingWhenStopped) {
  TemporaryDirectory folder;
  const auto report = synthesise(shape("qwen3-tiny"), mix("q8_0"), folder / "a",
                                 {.seed = 1, .threads = 1, .progress = [](uint64_t, uint64_t) { return false; }});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::cancelled);
  EXPECT_TRUE(folder.entries().empty());
}

}  // namespace
}  // namespace soffit::synth
