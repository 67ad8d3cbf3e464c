#include "synth/shape.hpp"

#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit::synth {
namespace {

constexpr Shape qwen3(Shape shape) {
  shape.architecture = shape.experts > 0 ? "qwen3moe" : "qwen3";
  shape.context = 40960, shape.rope_base = 1e6f, shape.epsilon = 1e-6f;
  if (shape.vocabulary == 0) shape.vocabulary = 151936, shape.ordinary_tokens = 151643;
  return shape;
}

constexpr Shape llama3(Shape shape) {
  shape.architecture = "llama";
  shape.context = 131072, shape.rope_base = 5e5f, shape.epsilon = 1e-5f;
  if (shape.vocabulary == 0) shape.vocabulary = 128256, shape.ordinary_tokens = 128000;
  return shape;
}

constexpr Shape kShapes[] = {
    qwen3({.name = "qwen3-0.6b",
           .title = "Qwen3 0.6B",
           .layers = 28,
           .embedding = 1024,
           .feed_forward = 3072,
           .heads = 16,
           .key_value_heads = 8,
           .head_dim = 128,
           .tied = true}),
    qwen3({.name = "qwen3-1.7b",
           .title = "Qwen3 1.7B",
           .layers = 28,
           .embedding = 2048,
           .feed_forward = 6144,
           .heads = 16,
           .key_value_heads = 8,
           .head_dim = 128,
           .tied = true}),
    qwen3({.name = "qwen3-8b",
           .title = "Qwen3 8B",
           .layers = 36,
           .embedding = 4096,
           .feed_forward = 12288,
           .heads = 32,
           .key_value_heads = 8,
           .head_dim = 128}),
    qwen3({.name = "qwen3-32b",
           .title = "Qwen3 32B",
           .layers = 64,
           .embedding = 5120,
           .feed_forward = 25600,
           .heads = 64,
           .key_value_heads = 8,
           .head_dim = 128}),
    qwen3({.name = "qwen3-30b-a3b",
           .title = "Qwen3 30B-A3B",
           .layers = 48,
           .embedding = 2048,
           .feed_forward = 6144,
           .heads = 32,
           .key_value_heads = 4,
           .head_dim = 128,
           .experts = 128,
           .experts_used = 8,
           .expert_feed_forward = 768}),
    llama3({.name = "llama-1b",
            .title = "Llama 3.2 1B",
            .layers = 16,
            .embedding = 2048,
            .feed_forward = 8192,
            .heads = 32,
            .key_value_heads = 8,
            .head_dim = 64,
            .tied = true,
            .stretch = {.factor = 32}}),
    llama3({.name = "llama-3b",
            .title = "Llama 3.2 3B",
            .layers = 28,
            .embedding = 3072,
            .feed_forward = 8192,
            .heads = 24,
            .key_value_heads = 8,
            .head_dim = 128,
            .tied = true,
            .stretch = {.factor = 32}}),
    llama3({.name = "llama-8b",
            .title = "Llama 3.1 8B",
            .layers = 32,
            .embedding = 4096,
            .feed_forward = 14336,
            .heads = 32,
            .key_value_heads = 8,
            .head_dim = 128,
            .stretch = {.factor = 8}}),
    qwen3({.name = "qwen3-tiny",
           .title = "tiny Qwen3",
           .layers = 8,
           .embedding = 256,
           .feed_forward = 512,
           .heads = 4,
           .key_value_heads = 2,
           .head_dim = 64,
           .tied = true,
           .vocabulary = 1056,
           .ordinary_tokens = 1024}),
    qwen3({.name = "qwen3moe-tiny",
           .title = "tiny Qwen3 mixture of experts",
           .layers = 8,
           .embedding = 256,
           .feed_forward = 512,
           .heads = 4,
           .key_value_heads = 2,
           .head_dim = 64,
           .experts = 8,
           .experts_used = 2,
           .expert_feed_forward = 256,
           .vocabulary = 1056,
           .ordinary_tokens = 1024}),
    llama3({.name = "llama-tiny",
            .title = "tiny Llama 3",
            .layers = 8,
            .embedding = 256,
            .feed_forward = 512,
            .heads = 8,
            .key_value_heads = 2,
            .head_dim = 32,
            .vocabulary = 1280,
            .ordinary_tokens = 1024,
            .stretch = {.factor = 8}}),
};

}  // namespace

std::span<const Shape> shapes() { return kShapes; }

Result<Shape> find_shape(std::string_view name) {
  std::string names;
  for (const Shape& shape : kShapes) {
    if (shape.name == name) return shape;
    names += concat(names.empty() ? "" : ", ", shape.name);
  }
  return invalid_argument(concat("there is no shape '", escaped(name, 80), "'; there are ", names));
}

}  // namespace soffit::synth
