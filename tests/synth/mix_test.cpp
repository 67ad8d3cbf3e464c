// Mixes: which tensors get which format.
#include "synth/mix.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace soffit::synth {
namespace {

using testing::HasSubstr;

// Formats by the tensor's name without its layer, and the layers that have them.
using Layers = std::map<Format, std::set<int64_t>>;
std::map<std::string, Layers> formats(std::string_view shape_name, std::string_view mix_name) {
  const auto shape = find_shape(shape_name);
  const auto mix = Mix::find(mix_name);
  EXPECT_TRUE(shape && mix);
  std::map<std::string, Layers> formats;
  for (const TensorPlan& tensor : plan_tensors(*shape)) {
    const std::string name = tensor.layer < 0 ? tensor.name : tensor.name.substr(tensor.name.find('.', 4) + 1);
    formats[name][mix->format(*shape, tensor)].insert(tensor.layer);
  }
  return formats;
}

std::set<int64_t> range(int64_t first, int64_t end) {
  std::set<int64_t> layers;
  for (int64_t i = first; i < end; ++i) layers.insert(i);
  return layers;
}

std::set<int64_t> without(std::set<int64_t> layers, const std::set<int64_t>& others) {
  for (const int64_t i : others) layers.erase(i);
  return layers;
}

const std::set<int64_t> kAll28 = range(0, 28), kWhole = {-1};
// Of 28 layers the first three, the last four, and every third from the sixth on.
const std::set<int64_t> kMoreBits = {0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27};

TEST(Mix, Q4KMFollowsLlamaCpp) {
  auto have = formats("qwen3-1.7b", "q4_k_m");
  const Layers sensitive = {{Format::q6_k, kMoreBits}, {Format::q4_k, without(kAll28, kMoreBits)}};
  EXPECT_EQ(have["token_embd.weight"], (Layers{{Format::q6_k, kWhole}}));
  EXPECT_EQ(have["attn_v.weight"], sensitive);
  EXPECT_EQ(have["ffn_down.weight"], sensitive);
  for (const char* name : {"attn_q", "attn_k", "attn_output", "ffn_gate", "ffn_up"})
    EXPECT_EQ(have[std::string(name) + ".weight"], (Layers{{Format::q4_k, kAll28}})) << name;
}

TEST(Mix, DynamicHasMoreBitsForAttention) {
  auto have = formats("qwen3-1.7b", "ud-q4_k_xl");
  EXPECT_EQ(have["token_embd.weight"], (Layers{{Format::q6_k, kWhole}}));
  EXPECT_EQ(have["ffn_down.weight"], (Layers{{Format::q5_k, kMoreBits}, {Format::iq4_xs, without(kAll28, kMoreBits)}}));
  const std::map<std::string, Format> others = {{"attn_q", Format::q5_k},   {"attn_output", Format::q5_k},
                                                {"attn_k", Format::q8_0},   {"attn_v", Format::q8_0},
                                                {"ffn_gate", Format::q4_k}, {"ffn_up", Format::q4_k}};
  for (const auto& [name, format] : others) EXPECT_EQ(have[name + ".weight"], (Layers{{format, kAll28}})) << name;
}

TEST(Mix, SeparateOutputsAndEmbeddings) {
  const std::map<std::string_view, std::pair<Format, Format>> expected = {
      {"q8_0", {Format::q8_0, Format::q8_0}},     {"q6_k", {Format::q6_k, Format::q6_k}},
      {"q4_k_m", {Format::q4_k, Format::q6_k}},   {"ud-q4_k_xl", {Format::q5_k, Format::q6_k}},
      {"iq4_xs", {Format::iq4_xs, Format::q6_k}}, {"tq1_0", {Format::q4_k, Format::q6_k}},
      {"tq2_0", {Format::q4_k, Format::q6_k}},
  };
  for (const auto& [mix, pair] : expected) {
    auto have = formats("llama-8b", mix);
    EXPECT_EQ(have["token_embd.weight"], (Layers{{pair.first, kWhole}})) << mix;
    EXPECT_EQ(have["output.weight"], (Layers{{pair.second, kWhole}})) << mix;
  }
}

TEST(Mix, Iq4XsSparesTheFirstEighthAndSharedValues) {
  auto llama = formats("llama-8b", "iq4_xs"), qwen = formats("qwen3-1.7b", "iq4_xs");
  EXPECT_EQ(llama["ffn_down.weight"], (Layers{{Format::q5_k, range(0, 4)}, {Format::iq4_xs, range(4, 32)}}));
  EXPECT_EQ(llama["attn_v.weight"], (Layers{{Format::q5_k, range(0, 32)}}));  // four queries a value
  EXPECT_EQ(qwen["attn_v.weight"], (Layers{{Format::iq4_xs, kAll28}}));       // two
}

TEST(Mix, TernaryIsAllLayers) {
  for (const Format format : {Format::tq1_0, Format::tq2_0}) {
    auto have = formats("qwen3-1.7b", info(format).name);
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      EXPECT_EQ(have[std::string(name) + ".weight"], (Layers{{format, kAll28}})) << name;
  }
}

TEST(Mix, ExpertsAreAsTheLayersMatricesAndRoutersF32) {
  auto have = formats("qwen3-30b-a3b", "ud-q4_k_xl");
  EXPECT_EQ(have["ffn_gate_inp.weight"], (Layers{{Format::f32, range(0, 48)}}));
  EXPECT_EQ(have["ffn_up_exps.weight"], (Layers{{Format::q4_k, range(0, 48)}}));
  EXPECT_EQ(have["ffn_down_exps.weight"].size(), 2u);
  for (const char* name : {"attn_norm.weight", "attn_q_norm.weight", "ffn_norm.weight"})
    EXPECT_EQ(have[name], (Layers{{Format::f32, range(0, 48)}}));
}

TEST(Mix, AFormatIsAMix) {
  auto have = formats("qwen3-1.7b", "mxfp4");
  EXPECT_EQ(have["token_embd.weight"], (Layers{{Format::mxfp4, kWhole}}));
  EXPECT_EQ(have["ffn_down.weight"], (Layers{{Format::mxfp4, kAll28}}));
  EXPECT_EQ(have["output_norm.weight"], (Layers{{Format::f32, kWhole}}));
}

TEST(Mix, UnknownOnesAreRefusedWithTheList) {
  for (const char* name : {"q4_k_l", "iq2_xxs", ""}) {
    const auto mix = Mix::find(name);
    ASSERT_FALSE(mix) << name;
    EXPECT_EQ(mix.error().code, Code::invalid_argument);
    EXPECT_THAT(mix.error().message, HasSubstr("q8_0, q6_k, q4_k_m, ud-q4_k_xl, iq4_xs, tq1_0, tq2_0"));
  }
}

}  // namespace
}  // namespace soffit::synth
