// Names and shapes of the tensors are those that llama.cpp's converter writes.
#include "model/weights.hpp"

#include <utility>

#include "model/architecture.hpp"
#include "model/tensor_loader.hpp"

namespace soffit::model {
namespace {

Status load_attention(TensorLoader& loader, const Config& config, const LayerConfig& layer, const std::string& block,
                      LayerWeights& weights) {
  const int64_t queries = config.query_columns(layer), keys = config.key_value_columns(layer);
  const bool bias = config.architecture->query_key_bias_required;
  SOFFIT_TRY(weights.attention_norm, loader.vector(block + "attn_norm.weight", config.embedding));
  if (loader.has(block + "attn_qkv.weight")) {
    SOFFIT_TRY(weights.query_key_value,
               loader.stack({{block + "attn_qkv", queries + 2 * keys, bias}}, config.embedding));
  } else {
    SOFFIT_TRY(weights.query_key_value,
               loader.stack(
                   {{block + "attn_q", queries, bias}, {block + "attn_k", keys, bias}, {block + "attn_v", keys, bias}},
                   config.embedding));
  }
  if (config.architecture->head_norms) {
    SOFFIT_TRY(weights.query_norm, loader.vector(block + "attn_q_norm.weight", config.head_dim));
    SOFFIT_TRY(weights.key_norm, loader.vector(block + "attn_k_norm.weight", config.head_dim));
  }
  SOFFIT_TRY(weights.attention_output, loader.matrix({block + "attn_output", config.embedding}, queries));
  if (config.architecture->post_norms) {
    SOFFIT_TRY(weights.post_attention_norm, loader.vector(block + "post_attention_norm.weight", config.embedding));
  }
  return {};
}

Status load_experts(TensorLoader& loader, const Config& config, const LayerConfig& layer, const std::string& block,
                    LayerWeights& weights) {
  SOFFIT_TRY(weights.router, loader.matrix({block + "ffn_gate_inp", config.experts}, config.embedding));
  if (loader.has(block + "ffn_gate_up_exps.weight")) {
    SOFFIT_TRY(weights.gate_up,
               loader.split_gate_up(block + "ffn_gate_up_exps", layer.feed_forward, config.embedding, config.experts));
  } else {
    SOFFIT_TRY(weights.gate_up, loader.stack({{block + "ffn_gate_exps", layer.feed_forward},
                                              {block + "ffn_up_exps", layer.feed_forward}},
                                             config.embedding, config.experts));
  }
  SOFFIT_TRY(weights.down,
             loader.matrix({block + "ffn_down_exps", config.embedding}, layer.feed_forward, config.experts));
  return {};
}

Status load_feed_forward(TensorLoader& loader, const Config& config, const LayerConfig& layer, const std::string& block,
                         LayerWeights& weights) {
  SOFFIT_TRY(weights.feed_forward_norm, loader.vector(block + "ffn_norm.weight", config.embedding));
  if (config.experts > 0) {
    SOFFIT_CHECK(load_experts(loader, config, layer, block, weights));
  } else {
    SOFFIT_TRY(weights.gate_up,
               loader.stack({{block + "ffn_gate", layer.feed_forward}, {block + "ffn_up", layer.feed_forward}},
                            config.embedding));
    SOFFIT_TRY(weights.down, loader.matrix({block + "ffn_down", config.embedding}, layer.feed_forward));
  }
  if (config.architecture->post_norms) {
    SOFFIT_TRY(weights.post_feed_forward_norm, loader.vector(block + "post_ffw_norm.weight", config.embedding));
  }
  return {};
}

Status load_embedding_and_output(TensorLoader& loader, const Config& config, const LoadOptions& options,
                                 ModelWeights& weights) {
  const bool tied = !loader.has("output.weight");
  // Where only single rows are read, the table stays in the file, and of it only what is read becomes resident.
  SOFFIT_TRY(weights.embedding,
             loader.table("token_embd", config.vocabulary, config.embedding, tied ? options.layout : Layout::file));
  SOFFIT_TRY(weights.output_norm, loader.vector("output_norm.weight", config.embedding));
  if (tied) {
    weights.output.weights = weights.embedding;
    SOFFIT_TRY(weights.output.bias, loader.optional_vector("output.bias", config.vocabulary));
  } else {
    SOFFIT_TRY(weights.output, loader.matrix({"output", config.vocabulary}, config.embedding));
  }
  return {};
}

}  // namespace

Result<ModelWeights> load_weights(std::shared_ptr<const gguf::File> file, const Config& config, Backend& backend,
                                  const LoadOptions& options) {
  ModelWeights weights;
  TensorLoader loader(std::move(file), backend, options, weights);
  SOFFIT_CHECK(load_embedding_and_output(loader, config, options, weights));
  if (config.architecture->rope_factors) {
    SOFFIT_TRY(weights.rope_factors,
               loader.optional_vector("rope_freqs.weight", config.layers.front().rope.dimensions / 2));
  }
  for (size_t i = 0; i < config.layers.size(); i++) {
    const std::string block = "blk." + std::to_string(i) + ".";
    LayerWeights layer;
    SOFFIT_CHECK(load_attention(loader, config, config.layers[i], block, layer));
    SOFFIT_CHECK(load_feed_forward(loader, config, config.layers[i], block, layer));
    weights.layers.push_back(std::move(layer));
  }
  weights.unused = loader.unused();
  return weights;
}

}  // namespace soffit::model
