// A model's weights on a backend: tensors found by name in a GGUF file, their shapes checked, uploaded in the layout
// the backend wants.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "soffit/backend.hpp"

namespace soffit::model {

// A linear layer. `bias` is empty where the file has none.
struct Projection {
  const Weights* weights = nullptr;
  float scale = 1.0f;  // the optional tensor NAME.scale
  ArrayView bias;      // (1, rows of weights), f32
};
// Linear layers that read the same activations: one stacked matrix, or one for each tensor where their scales differ.
using Projections = std::vector<Projection>;

// What a layer has depends on its architecture; the rest is empty.
struct LayerWeights {
  ArrayView attention_norm;        // (1, embedding), as all norms but those of heads
  Projections query_key_value;     // q rows, then k, then v
  ArrayView query_norm, key_norm;  // (1, head_dim)
  Projection attention_output;
  ArrayView post_attention_norm;
  ArrayView feed_forward_norm;
  Projections gate_up;  // gate rows, then up
  Projection down;
  ArrayView post_feed_forward_norm;
  Projection router;  // (experts, embedding); then gate_up and down are those of the experts
};

struct ModelWeights {
  const Weights* embedding = nullptr;  // (vocabulary, embedding)
  ArrayView output_norm;
  Projection output;  // the embedding's weights where the file ties them
  ArrayView rope_factors;
  std::vector<LayerWeights> layers;

  std::vector<std::unique_ptr<Weights>> matrices;  // everything above points into these two
  std::vector<std::unique_ptr<Buffer>> vectors;
  std::vector<std::string> unused;  // tensors of the file that this architecture does not know
};

struct LoadOptions {
  Layout layout = Layout::automatic;
  // Called now and then with the bytes uploaded so far and those there are. false cancels the loading.
  std::function<bool(uint64_t done, uint64_t total)> progress = {};
};

Result<ModelWeights> load_weights(std::shared_ptr<const gguf::File> file, const Config& config, Backend& backend,
                                  const LoadOptions& options);

}  // namespace soffit::model
