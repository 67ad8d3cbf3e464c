// Tensors: found by name, refused by name and shape, stacked, scaled, uploaded in pieces or in place.
#include "model/weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "plain_operations.hpp"
#include "runs.hpp"

namespace soffit::test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

const std::vector<int32_t> kTokens = {3, 14, 15, 9, 26, 49, 0, 7};

Error refusal(const ModelFile& file) {
  const auto backend = make_plain_backend();
  const auto model = model::Model::load(file.open(), *backend);
  if (model) return {Code::ok, "accepted"};
  return model.error();
}

std::vector<float> logits_of(const ModelFile& file) { return test::logits_of(*load(file).model, kTokens); }

// Rows of tensors below each other, as one tensor.
ModelFile::Tensor joined(const ModelFile& file, const std::vector<std::string>& names) {
  ModelFile::Tensor all = file.tensors.at(names[0]);
  all.shape[1] = 0;
  for (const std::string& name : names) {
    const auto values = file.values(name);
    all.values.insert(all.values.end(), values.begin(), values.end());
    all.shape[1] += file.tensors.at(name).shape[1];
  }
  return all;
}

TEST(Weights, EveryMissingTensorIsNamed) {
  for (const ModelFile& right : ModelFile::all()) {
    for (const auto& [name, tensor] : right.tensors) {
      if (name == "output.weight") continue;  // the embedding takes its place
      ModelFile file = right;
      file.tensors.erase(name);
      const Error error = refusal(file);
      EXPECT_EQ(error.code, Code::invalid_file) << right.architecture << ": " << error.message;
      EXPECT_THAT(error.message, HasSubstr("'" + name + "'"));
      EXPECT_THAT(error.message, HasSubstr("missing"));
    }
  }
}

TEST(Weights, EveryMisshapenTensorIsNamedWithBothShapes) {
  for (const ModelFile& right : ModelFile::all()) {
    for (const auto& [name, tensor] : right.tensors) {
      for (size_t dimension = 0; dimension < tensor.shape.size(); dimension++) {
        ModelFile file = right;
        file.tensors[name].shape[dimension]++;
        const Error error = refusal(file);
        EXPECT_EQ(error.code, Code::invalid_file) << error.message;
        EXPECT_THAT(error.message, HasSubstr("'" + name + "'")) << right.architecture;
        EXPECT_THAT(error.message, HasSubstr(std::to_string(tensor.shape[dimension] + 1)));
        EXPECT_THAT(error.message, HasSubstr(std::to_string(tensor.shape[dimension])));
      }
    }
  }
}

TEST(Weights, ATransposedTensorIsNoRightOne) {
  ModelFile file = ModelFile::llama();
  file.tensors["blk.1.ffn_down.weight"].shape = {64, 96};
  EXPECT_THAT(refusal(file).message, HasSubstr("'blk.1.ffn_down.weight' has the shape [64, 96], expected [96, 64]"));
}

TEST(Weights, AFormatWithoutKernelsIsNamedWithTheList) {
  ModelFile file = ModelFile::llama();
  file.tensors["blk.1.ffn_down.weight"].type = 24;  // i8
  const Error error = refusal(file);
  EXPECT_EQ(error.code, Code::unsupported);
  EXPECT_THAT(error.message, HasSubstr("'blk.1.ffn_down.weight' is i8"));
  EXPECT_THAT(error.message, HasSubstr("f32, f16, q4_0"));
}

TEST(Weights, UnknownTensorsAreListedAndNotFatal) {
  ModelFile file = ModelFile::llama();
  file.tensors["blk.0.attn_sub_norm.weight"] = {{64}};
  file.tensors["rope_freqs.weight"] = {{8}};
  EXPECT_THAT(load(file).model->weights().unused, ElementsAre("blk.0.attn_sub_norm.weight"));
}

TEST(Weights, StackedPartsKeepTheirFormats) {
  ModelFile file = ModelFile::llama();
  file.set_type("blk.0.attn_q.weight", Format::q8_0);
  file.set_type("blk.0.attn_v.weight", Format::f16);
  const LoadedFile loaded = load(file);
  const auto& stack = loaded.model->weights().layers[0].query_key_value;
  ASSERT_EQ(stack.size(), 1u);
  const auto parts = stack[0].weights->parts();
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].format, Format::q8_0);
  EXPECT_EQ(parts[1].format, Format::f32);
  EXPECT_EQ(parts[2].format, Format::f16);
  EXPECT_EQ(stack[0].weights->rows(), 64 + 32 + 32);
}

TEST(Weights, TiedEmbeddingsAreOneMatrix) {
  const LoadedFile tied = load(ModelFile::qwen3()), untied = load(ModelFile::llama());
  EXPECT_EQ(tied.model->weights().output.weights, tied.model->weights().embedding);
  EXPECT_NE(untied.model->weights().output.weights, untied.model->weights().embedding);
}

TEST(Weights, FusedTensorsGiveTheSameLogits) {
  ModelFile file = ModelFile::llama();
  const auto separate = logits_of(file);
  for (const std::string block : {"blk.0.", "blk.1.", "blk.2."}) {
    file.tensors[block + "attn_qkv.weight"] =
        joined(file, {block + "attn_q.weight", block + "attn_k.weight", block + "attn_v.weight"});
    for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_v.weight"}) file.tensors.erase(block + name);
  }
  EXPECT_EQ(logits_of(file), separate);
}

TEST(Weights, FusedExpertsGiveTheSameLogits) {
  ModelFile file = ModelFile::qwen3moe();
  const auto separate = logits_of(file);
  for (const std::string block : {"blk.0.", "blk.1.", "blk.2."}) {
    const auto gate = file.values(block + "ffn_gate_exps.weight"), up = file.values(block + "ffn_up_exps.weight");
    ModelFile::Tensor both = file.tensors.at(block + "ffn_gate_exps.weight");
    const size_t slab = size_t(both.shape[0] * both.shape[1]);
    for (size_t begin = 0; begin < gate.size(); begin += slab) {
      both.values.insert(both.values.end(), gate.begin() + ptrdiff_t(begin), gate.begin() + ptrdiff_t(begin + slab));
      both.values.insert(both.values.end(), up.begin() + ptrdiff_t(begin), up.begin() + ptrdiff_t(begin + slab));
    }
    both.shape[1] *= 2;
    file.tensors[block + "ffn_gate_up_exps.weight"] = both;
    file.tensors.erase(block + "ffn_gate_exps.weight");
    file.tensors.erase(block + "ffn_up_exps.weight");
  }
  EXPECT_EQ(logits_of(file), separate);
}

// A scale beside a matrix is the matrix multiplied.
void expect_scale_applied(ModelFile file, const std::string& stem, int64_t experts) {
  ModelFile multiplied = file;
  auto values = file.values(stem + ".weight");
  for (float& value : values) value *= 0.5f;
  multiplied.tensors[stem + ".weight"].values = values;
  const auto unscaled = logits_of(file);
  file.tensors[stem + ".scale"] = {{experts}, 0, 0.5f, true};
  const auto scaled = logits_of(file);
  EXPECT_THAT(scaled, Pointwise(FloatNear(1e-5f), logits_of(multiplied))) << stem;
  EXPECT_NE(scaled, unscaled) << stem;
}

TEST(Weights, ScaleTensorsAreApplied) {
  for (const char* name : {"blk.0.attn_q", "blk.1.attn_k", "blk.0.attn_v", "blk.2.attn_output", "blk.0.ffn_gate",
                           "blk.1.ffn_up", "blk.0.ffn_down", "output"}) {
    expect_scale_applied(ModelFile::llama(), name, 1);
  }
  for (const char* name : {"blk.0.ffn_gate_exps", "blk.1.ffn_up_exps", "blk.2.ffn_down_exps"}) {
    expect_scale_applied(ModelFile::qwen3moe(), name, 5);
  }
}

TEST(Weights, AScaleOfItsOwnForEachExpertIsRefused) {
  ModelFile file = ModelFile::qwen3moe();
  file.tensors["blk.1.ffn_down_exps.scale"] = {{5}};
  const Error error = refusal(file);
  EXPECT_EQ(error.code, Code::unsupported);
  EXPECT_THAT(error.message, HasSubstr("'blk.1.ffn_down_exps.scale'"));
}

TEST(Weights, BiasesAreAdded) {
  ModelFile file = ModelFile::llama();
  auto previous = logits_of(file);
  for (const auto& [name, length] : {std::pair<std::string, int64_t>{"blk.0.attn_v.bias", 32},
                                     {"blk.1.attn_output.bias", 64},
                                     {"blk.1.ffn_gate.bias", 96},
                                     {"blk.2.ffn_up.bias", 96},
                                     {"blk.0.ffn_down.bias", 64}}) {
    file.tensors[name] = {{length}, 0, 0.5f};
    const auto next = logits_of(file);
    EXPECT_NE(next, previous) << name;
    previous = next;
  }
  // The output's bias is seen in the logits as it is.
  file.tensors["output.bias"] = {{50}, 0, 0.5f};
  const auto bias = file.values("output.bias");
  for (size_t i = 0; i < previous.size(); i++) previous[i] += bias[i % 50];
  EXPECT_THAT(logits_of(file), Pointwise(FloatNear(1e-5f), previous));
}

TEST(Weights, NormsOfAnyFormatAreDecoded) {
  ModelFile file = ModelFile::llama(), half = file;
  half.set_type("output_norm.weight", Format::f16);
  EXPECT_THAT(logits_of(half), Pointwise(FloatNear(0.02f), logits_of(file)));
}

TEST(Weights, TheFilesLayoutIsAdoptedAndAnotherIsWrittenInPiecesWhereItIsLarge) {
  ModelFile file = ModelFile::qwen3moe();
  file.keys["vocab_size"] = uint32_t(2000);
  file.tensors["token_embd.weight"].shape[1] = 2000;
  const LoadedFile in_place = load(file), repacked = load(file, make_plain_backend({.repacks = true}));
  EXPECT_EQ(test::logits_of(*in_place.model, kTokens), test::logits_of(*repacked.model, kTokens));
  for (const auto& weights : in_place.model->weights().matrices) {
    EXPECT_TRUE(static_cast<const PlainWeights&>(*weights).adopted);
  }
  const uint64_t share = repacked.model->file().size_bytes() / 16;
  int large = 0;
  for (const auto& weights : repacked.model->weights().matrices) {
    const auto& plain = static_cast<const PlainWeights&>(*weights);
    EXPECT_THAT(std::string(plain.layout_name(0)), HasSubstr("_plain"));
    if (plain.parts().size() > 1) continue;  // one flag for all of them
    EXPECT_EQ(plain.adopted, plain.file_bytes() < share) << plain.file_bytes();
    large += !plain.adopted;
  }
  EXPECT_GT(large, 0);
}

TEST(Weights, ProgressEndsAtTheWholeAndCanCancel) {
  const ModelFile file = ModelFile::llama();
  uint64_t last = 0, whole = 0;
  model::LoadOptions options;
  options.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_GE(done, last);
    last = done;
    whole = total;
    return true;
  };
  load(file, make_plain_backend(), options);
  EXPECT_EQ(last, whole);
  EXPECT_GT(whole, 100000u);

  options.progress = [](uint64_t done, uint64_t total) { return done < total / 2; };
  const auto backend = make_plain_backend();
  const auto cancelled = model::Model::load(file.open(), *backend, options);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::cancelled);
}

TEST(Weights, BytesAndOperationsOfATokenAreCounted) {
  const LoadedFile loaded = load(ModelFile::qwen3moe());
  const model::Model& model = *loaded.model;
  // f32; a row of the embedding, three layers of q|k|v, output, router, two of five experts, and the tied output.
  const int64_t attention = 64 * 256 + 128 * 64, expert = 3 * 32 * 64;
  const int64_t read = 64 + 3 * (attention + 5 * 64 + 2 * expert) + 50 * 64;
  EXPECT_EQ(model.weight_bytes(1, 1), uint64_t(4 * read));
  EXPECT_EQ(model.weight_bytes(1, 0), uint64_t(4 * (read - 50 * 64)));
  EXPECT_EQ(model.weight_bytes(4, 1), uint64_t(4 * (read + 3 * 64 + 3 * 3 * expert)));  // all five experts
  EXPECT_EQ(model.key_value_bytes(9, DataType::f16), uint64_t(3 * 2 * 10 * 64 * 2));
  EXPECT_EQ(model.flops(1, 1, 9), double(2 * (read - 64) + 3 * 4 * 10 * 128));
}

TEST(Weights, AWindowBoundsTheKeysThatAreRead) {
  const LoadedFile loaded = load(ModelFile::gemma3());
  EXPECT_EQ(loaded.model->key_value_bytes(99, DataType::f32), uint64_t(2 * (7 + 7 + 100) * 64 * 4));
}

}  // namespace
}  // namespace soffit::test
