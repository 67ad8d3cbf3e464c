// The hyper-parameters of real models, for files with their shapes and random weights.
// Sources: the published config.json of Qwen3 (arXiv 2505.09388) and of Llama 3.1 and 3.2 (arXiv 2407.21783).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "soffit/status.hpp"

namespace soffit::synth {

// Llama 3.1's stretched RoPE: frequencies below original_context / low_factor are divided by `factor`, those above
// original_context / high_factor stay, between them it fades.
struct RopeStretch {
  double factor = 0;  // 0: none
  double low_factor = 1, high_factor = 4, original_context = 8192;
};

struct Shape {
  std::string_view name;               // "qwen3-1.7b"
  std::string_view title;              // "Qwen3 1.7B"
  std::string_view architecture = {};  // GGUF's: "llama", "qwen3", "qwen3moe"
  int64_t layers = 0, embedding = 0, feed_forward = 0;
  int64_t heads = 0, key_value_heads = 0, head_dim = 0;
  int64_t experts = 0, experts_used = 0, expert_feed_forward = 0;
  bool tied = false;  // the embedding is the output matrix too
  int64_t vocabulary = 0;
  int64_t ordinary_tokens = 0;  // bytes and merges; special tokens follow, then padding
  int64_t context = 0;
  float rope_base = 0, epsilon = 0;
  RopeStretch stretch = {};

  bool is_llama() const { return architecture == "llama"; }
};

// The tiny ones, last, are nobody's: for tests and where a real file would be too much.
std::span<const Shape> shapes();
Result<Shape> find_shape(std::string_view name);  // the error lists the names

}  // namespace soffit::synth
