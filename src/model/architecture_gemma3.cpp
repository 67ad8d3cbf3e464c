// Gemma 3: a sliding window in all layers but every sixth, norms before and after each part. Source: arXiv 2503.19786.
#include <cmath>

#include "model/architecture.hpp"
#include "model/blocks.hpp"

namespace soffit::model {
namespace {

// Nothing in the metadata tells the 27B model, whose attention is scaled by the width per head instead of the head's.
constexpr size_t kLayersOf27B = 62;

Status configure(const Metadata& metadata, Config& config) {
  config.embedding_scale = float(std::sqrt(double(config.embedding)));
  if (config.layers.size() == kLayersOf27B) {
    config.attention_scale = float(1.0 / std::sqrt(double(config.embedding) / double(config.layers[0].heads)));
  }
  SOFFIT_TRY(config.final_soft_cap, metadata.number("final_logit_softcapping", false, 0.0f));
  SOFFIT_TRY(const int64_t window, metadata.integer("attention.sliding_window", {0, kMaxPositions}, 0));
  SOFFIT_TRY(const int64_t period, metadata.integer("attention.sliding_window_pattern", {1, kMaxPositions}, 6));
  SOFFIT_TRY(const float local_base, metadata.number("rope.freq_base_swa", true, 10000.0f));
  if (window == 0) return {};
  for (size_t i = 0; i < config.layers.size(); i++) {
    LayerConfig& layer = config.layers[i];
    if (int64_t(i + 1) % period == 0) continue;
    layer.window = window;
    // Scaling stretches only the layers that see the whole context.
    layer.rope.base = local_base;
    layer.rope.frequency_scale = 1.0f;
    layer.rope.extrapolation = 0.0f;
    layer.rope.attention_factor = 1.0f;
  }
  return {};
}

}  // namespace

extern const Architecture kGemma3;
const Architecture kGemma3 = {
    .name = "gemma3",
    .head_norms = true,
    .post_norms = true,
    .configure = configure,
    .record = [](Blocks& blocks) { record_transformer(blocks, Activation::gelu_tanh); },
};

}  // namespace soffit::model
