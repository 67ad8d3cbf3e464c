// Hyper-parameters: what is read, and what is refused by name and numbers.
#include "model/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/architecture.hpp"
#include "model_file.hpp"

namespace soffit::test {
namespace {

using gguf::Array;
using gguf::OwnedValue;
using model::Config;
using testing::HasSubstr;

Config read(const ModelFile& file) {
  auto config = model::read_config(*file.open());
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : Config();
}

struct Fault {
  const char* key;
  OwnedValue value;
  Code code;
  std::vector<const char*> texts;
};

// The key of a right file changed, or removed where `value` is null.
void expect_refused(ModelFile file, const char* key, const OwnedValue* value, Code code,
                    const std::vector<const char*>& texts) {
  if (value) {
    file.keys[key] = *value;
  } else {
    file.keys.erase(key);
  }
  const auto config = model::read_config(*file.open());
  ASSERT_FALSE(config) << file.architecture << ": accepted " << key;
  EXPECT_EQ(config.error().code, code) << config.error().message;
  for (const char* text : texts) EXPECT_THAT(config.error().message, HasSubstr(text)) << key;
}

TEST(Config, ReadsEveryArchitecture) {
  for (const ModelFile& file : ModelFile::all()) {
    const Config config = read(file);
    ASSERT_NE(config.architecture, nullptr);
    EXPECT_EQ(config.architecture->name, file.architecture);
    EXPECT_EQ(config.vocabulary, 50);
    EXPECT_EQ(config.embedding, 64);
    EXPECT_EQ(config.context, 128);
    ASSERT_EQ(config.layers.size(), 3u);
    EXPECT_EQ(config.layers[2].heads, 4);
    EXPECT_EQ(config.layers[2].key_value_heads, 2);
    EXPECT_EQ(config.epsilon, 1e-5f);
    EXPECT_EQ(config.attention_scale, float(1 / std::sqrt(double(config.head_dim))));
  }
}

TEST(Config, UnknownArchitectureIsRefusedWithTheList) {
  ModelFile file = ModelFile::llama();
  file.architecture = "mamba2";
  const auto config = model::read_config(*file.open());
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::unsupported);
  EXPECT_THAT(config.error().message, HasSubstr("'mamba2'"));
  EXPECT_THAT(config.error().message, HasSubstr("llama, qwen2, qwen3, qwen3moe, gemma3"));
}

TEST(Config, EveryBoundIsNamed) {
  const auto bad = Code::invalid_file;
  const std::vector<Fault> faults = {
      {"block_count", uint32_t(0), bad, {"'llama.block_count' is 0", "1 to 512"}},
      {"block_count", uint32_t(513), bad, {"'llama.block_count' is 513", "1 to 512"}},
      {"block_count", int64_t(-1), bad, {"'llama.block_count' is -1"}},
      {"block_count", std::string("three"), bad, {"'llama.block_count'"}},
      {"block_count", 3.0f, bad, {"'llama.block_count'"}},
      {"embedding_length", uint32_t(0), bad, {"'llama.embedding_length' is 0"}},
      {"embedding_length", uint64_t(1) << 40, bad, {"'llama.embedding_length' is 1099511627776"}},
      {"context_length", uint32_t(0), bad, {"'llama.context_length' is 0"}},
      {"context_length", uint32_t(1) << 31, bad, {"'llama.context_length' is 2147483648"}},
      {"vocab_size", uint32_t(0), bad, {"'llama.vocab_size' is 0"}},
      {"attention.head_count", uint32_t(0), bad, {"'llama.attention.head_count' is 0"}},
      {"attention.head_count",
       Array(std::vector<uint32_t>{4, 4}),
       bad,
       {"'llama.attention.head_count' has 2", "3 layers"}},
      {"attention.head_count", Array(std::vector<uint32_t>{4, 0, 4}), bad, {"head_count[1]' is 0"}},
      {"attention.head_count_kv", uint32_t(3), bad, {"layer 0", "4 heads", "3 key-value heads"}},
      {"attention.head_count_kv", Array(std::vector<int32_t>{2, 4, 3}), bad, {"layer 2", "3 key-value heads"}},
      {"attention.key_length", uint32_t(1), bad, {"'llama.attention.key_length' is 1"}},
      {"attention.value_length", uint32_t(8), Code::unsupported, {"16", "8"}},
      {"feed_forward_length", uint32_t(0), bad, {"layer 0", "is 0", "'llama.feed_forward_length'"}},
      {"feed_forward_length", Array(std::vector<uint32_t>{96, 96, 96, 96}), bad, {"has 4 elements", "3 layers"}},
      {"attention.layer_norm_rms_epsilon", -1e-5f, bad, {"layer_norm_rms_epsilon"}},
      {"attention.layer_norm_rms_epsilon", std::numeric_limits<float>::quiet_NaN(), bad, {"layer_norm_rms_epsilon"}},
      {"rope.dimension_count", uint32_t(15), bad, {"'llama.rope.dimension_count' is 15", "even"}},
      {"rope.dimension_count", uint32_t(18), bad, {"'llama.rope.dimension_count' is 18", "2 to 16"}},
      {"rope.freq_base", 0.0f, bad, {"'llama.rope.freq_base'", "above zero"}},
      {"rope.freq_base", std::numeric_limits<float>::infinity(), bad, {"'llama.rope.freq_base'"}},
      {"rope.scaling.type", std::string("longrope"), Code::unsupported, {"'longrope'", "none, linear, yarn"}},
      {"rope.scaling.factor", -2.0f, bad, {"'llama.rope.scaling.factor'"}},
      {"rope.scaling.factor", 1e-42f, bad, {"'llama.rope.scaling.factor'"}},
      {"rope.scaling.original_context_length", uint32_t(0), bad, {"original_context_length' is 0"}},
      {"expert_count", uint32_t(513), bad, {"'llama.expert_count' is 513", "0 to 512"}},
      {"expert_count", uint32_t(4), bad, {"'llama.expert_used_count' is 0", "4 experts"}},
      {"expert_used_count", uint32_t(2), bad, {"'llama.expert_used_count' is 2", "0 to 0"}},
      {"expert_weights_scale", 2.5f, Code::unsupported, {"'llama.expert_weights_scale' is 2.5"}},
      {"attention.causal", false, Code::unsupported, {"'llama.attention.causal'"}},
      {".prism.hadamard.version", uint32_t(1), Code::unsupported, {"prism.hadamard.version"}},
      {".tokenizer.ggml.tokens", std::string("a"), bad, {"tokenizer.ggml.tokens"}},
  };
  for (const Fault& fault : faults) {
    expect_refused(ModelFile::llama(), fault.key, &fault.value, fault.code, fault.texts);
  }
}

TEST(Config, MissingKeysAreNamed) {
  for (const char* key : {"block_count", "context_length", "embedding_length", "attention.head_count",
                          "attention.layer_norm_rms_epsilon", "vocab_size"}) {
    expect_refused(ModelFile::llama(), key, nullptr, Code::invalid_file, {key, "missing"});
  }
}

TEST(Config, ExpertsOnlyWhereTheArchitectureHasThem) {
  const OwnedValue two = uint32_t(2), none = uint32_t(0);
  ModelFile dense = ModelFile::qwen3();
  dense.keys["expert_used_count"] = two;
  expect_refused(dense, "expert_count", &two, Code::unsupported, {"'qwen3'", "2 experts"});
  ModelFile experts = ModelFile::qwen3moe();
  experts.keys["expert_used_count"] = none;
  expect_refused(experts, "expert_count", &none, Code::unsupported, {"'qwen3moe'", "0 experts"});
  ModelFile wide = ModelFile::qwen3moe();
  const OwnedValue six = uint32_t(6);
  expect_refused(wide, "expert_used_count", &six, Code::invalid_file, {"'qwen3moe.expert_used_count' is 6", "0 to 5"});
}

TEST(Config, ExpertWidthFallsBackToTheSharesOfTheWhole) {
  ModelFile file = ModelFile::qwen3moe();
  file.keys.erase("expert_feed_forward_length");
  file.keys["feed_forward_length"] = uint32_t(64);
  EXPECT_EQ(read(file).layers[1].feed_forward, 32);
}

TEST(Config, ArraysGiveEachLayerItsOwn) {
  ModelFile file = ModelFile::llama();
  file.keys["attention.head_count"] = Array(std::vector<uint32_t>{4, 8, 2});
  file.keys["attention.head_count_kv"] = Array(std::vector<int32_t>{2, 1, 2});
  file.keys["feed_forward_length"] = Array(std::vector<uint64_t>{96, 32, 64});
  const Config config = read(file);
  EXPECT_EQ(config.layers[1].heads, 8);
  EXPECT_EQ(config.layers[1].key_value_heads, 1);
  EXPECT_EQ(config.layers[2].feed_forward, 64);
}

TEST(Config, TheTokenizersTokensAreTheVocabulary) {
  ModelFile file = ModelFile::llama();
  file.keys[".tokenizer.ggml.tokens"] = Array(std::vector<std::string>{"a", "b", "c"});
  EXPECT_EQ(read(file).vocabulary, 3);
}

TEST(Config, RopeScaling) {
  ModelFile file = ModelFile::qwen3();
  file.keys["rope.scaling.factor"] = 4.0f;
  EXPECT_EQ(read(file).layers[0].rope.frequency_scale, 0.25f);
  EXPECT_EQ(read(file).layers[0].rope.extrapolation, 0.0f);
  file.keys["rope.scaling.type"] = std::string("none");
  EXPECT_EQ(read(file).layers[0].rope.frequency_scale, 1.0f);
  file.keys["rope.scaling.type"] = std::string("yarn");
  file.keys["rope.scaling.original_context_length"] = uint32_t(32);
  const RopeParameters yarn = read(file).layers[0].rope;
  EXPECT_EQ(yarn.frequency_scale, 0.25f);
  EXPECT_EQ(yarn.extrapolation, 1.0f);
  EXPECT_EQ(yarn.original_context, 32);
  file.keys.erase("rope.scaling.factor");
  file.keys["rope.scale_linear"] = 2.0f;
  EXPECT_EQ(read(file).layers[0].rope.frequency_scale, 0.5f);
}

TEST(Config, PairsOfRope) {
  EXPECT_EQ(read(ModelFile::llama()).layers[0].rope.pairs, RopeParameters::Pairs::adjacent);
  for (const auto& file : {ModelFile::qwen2(), ModelFile::qwen3(), ModelFile::qwen3moe(), ModelFile::gemma3()}) {
    EXPECT_EQ(read(file).layers[0].rope.pairs, RopeParameters::Pairs::halves) << file.architecture;
  }
}

TEST(Config, GemmaAlternatesLocalAndGlobalLayers) {
  ModelFile file = ModelFile::gemma3();
  file.keys["rope.scaling.factor"] = 8.0f;
  const Config config = read(file);
  EXPECT_EQ(config.embedding_scale, 8.0f);
  for (size_t i = 0; i < 2; i++) {
    EXPECT_EQ(config.layers[i].window, 7);
    EXPECT_EQ(config.layers[i].rope.base, 10000.0f);
    EXPECT_EQ(config.layers[i].rope.frequency_scale, 1.0f);
  }
  EXPECT_EQ(config.layers[2].window, 0);
  EXPECT_EQ(config.layers[2].rope.base, 1e6f);
  EXPECT_EQ(config.layers[2].rope.frequency_scale, 0.125f);

  file.keys.erase("attention.sliding_window");
  EXPECT_EQ(read(file).layers[0].window, 0);
  EXPECT_EQ(read(file).layers[0].rope.base, 1e6f);
  const OwnedValue zero = uint32_t(0);
  expect_refused(ModelFile::gemma3(), "attention.sliding_window_pattern", &zero, Code::invalid_file,
                 {"sliding_window_pattern' is 0"});
}

TEST(Config, Gemma27BIsKnownByItsLayers) {
  ModelFile file = ModelFile::gemma3();
  file.keys["block_count"] = uint32_t(62);
  EXPECT_EQ(read(file).attention_scale, 0.25f);  // 1 / sqrt(64 / 4)
}

}  // namespace
}  // namespace soffit::test
