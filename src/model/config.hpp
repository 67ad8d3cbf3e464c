// A model's hyper-parameters, read from a GGUF file's metadata and proven to lie within bounds, so that nothing later
// can overflow, divide by zero or leave an array. Keys and defaults are those of llama.cpp's loader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "soffit/gguf.hpp"
#include "soffit/operation.hpp"

namespace soffit::model {

struct Architecture;

// Far above every model there is, and small enough that no product of two of them leaves 63 bits.
constexpr int64_t kMaxLayers = 512, kMaxExperts = 512, kMaxWidth = 1 << 24, kMaxHeads = 1 << 16, kMaxHeadDim = 1 << 14,
                  kMaxPositions = INT32_MAX, kMaxVocabulary = 1 << 26;

struct LayerConfig {
  int64_t heads = 0;            // of queries
  int64_t key_value_heads = 0;  // a divisor of heads
  int64_t feed_forward = 0;     // hidden width, of one expert where there are experts
  int64_t window = 0;           // keys that a query sees, itself included; 0: all
  RopeParameters rope;          // without frequency factors, which are a tensor
};

struct Config {
  const Architecture* architecture = nullptr;
  int64_t vocabulary = 0;
  int64_t embedding = 0;  // width of the residual stream
  int64_t context = 0;    // positions the model was trained for
  int64_t head_dim = 0;   // of queries, keys and values
  int64_t experts = 0;    // 0: a dense feed-forward part in every layer
  int64_t experts_used = 0;
  float epsilon = 0;  // of every RMS norm
  float attention_scale = 0;
  float embedding_scale = 1.0f;
  float final_soft_cap = 0;  // 0: none
  std::vector<LayerConfig> layers;

  int64_t query_columns(const LayerConfig& layer) const { return layer.heads * head_dim; }
  int64_t key_value_columns(const LayerConfig& layer) const { return layer.key_value_heads * head_dim; }
};

Result<Config> read_config(const gguf::File& file);

}  // namespace soffit::model
