// Qwen 2 and 2.5 (biases on q, k and v), Qwen 3 (normalised heads instead) and its mixture of experts.
// Sources: arXiv 2407.10671, arXiv 2505.09388.
#include "model/architecture.hpp"
#include "model/blocks.hpp"

namespace soffit::model {
namespace {

void record_qwen(Blocks& blocks) { record_transformer(blocks, Activation::silu); }

// The hidden width of one expert; older files give only that of all experts a token uses.
Status configure_experts(const Metadata& metadata, Config& config) {
  SOFFIT_TRY(const int64_t width, metadata.integer("expert_feed_forward_length", {0, kMaxWidth}, 0));
  for (LayerConfig& layer : config.layers) {
    layer.feed_forward = width > 0 ? width : layer.feed_forward / config.experts_used;
  }
  return {};
}

}  // namespace

extern const Architecture kQwen2, kQwen3, kQwen3Moe;
const Architecture kQwen2 = {.name = "qwen2", .query_key_bias_required = true, .record = record_qwen};
const Architecture kQwen3 = {.name = "qwen3", .head_norms = true, .record = record_qwen};
const Architecture kQwen3Moe = {
    .name = "qwen3moe",
    .experts = Architecture::Experts::always,
    .head_norms = true,
    .configure = configure_experts,
    .record = record_qwen,
};

}  // namespace soffit::model
