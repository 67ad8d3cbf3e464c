#include "model/config.hpp"

#include <cmath>

#include "core/concat.hpp"
#include "core/escape.hpp"
#include "model/architecture.hpp"
#include "model/metadata.hpp"

namespace soffit::model {
namespace {

Result<const Architecture*> find_architecture(const gguf::File& file) {
  const gguf::Value* value = file.find("general.architecture");
  if (!value) return invalid_file("key 'general.architecture' is missing");
  const auto text = value->as_string();
  if (!text) return invalid_file(concat("key 'general.architecture': ", text.error().message));
  const std::string_view name = *text;
  for (const Architecture* architecture : architectures()) {
    if (architecture->name == name) return architecture;
  }
  return unsupported(
      concat("architecture '", escaped(name, 80), "' is not supported; supported: ", architecture_names()));
}

// Settings that change the result and that nothing here implements: to ignore them would be wrong without a sign.
Status refuse_unknown_transformations(const Metadata& metadata) {
  for (const auto& entry : metadata.file().metadata()) {
    if (entry.key.starts_with("prism.hadamard.")) {
      return unsupported(concat("key '", escaped(entry.key, 80), "': weights folded with a Hadamard transform"));
    }
  }
  SOFFIT_TRY(const bool causal, metadata.boolean("attention.causal", true));
  if (!causal) return unsupported("key '" + metadata.key("attention.causal") + "' is false: only causal attention");
  return {};
}

// The tokenizer's tokens decide, as in llama.cpp; files without a tokenizer say it by the key.
Result<int64_t> read_vocabulary(const Metadata& metadata) {
  const gguf::Value* tokens = metadata.file().find("tokenizer.ggml.tokens");
  if (!tokens) return metadata.integer("vocab_size", {1, kMaxVocabulary});
  if (tokens->type != gguf::ValueType::array || tokens->count < 1 || tokens->count > uint64_t(kMaxVocabulary)) {
    return invalid_file("key 'tokenizer.ggml.tokens' is no array of 1 to " + std::to_string(kMaxVocabulary) +
                        " strings");
  }
  return int64_t(tokens->count);
}

Result<RopeParameters> read_rope(const Metadata& metadata, const Config& config) {
  RopeParameters rope;
  rope.pairs = config.architecture->rope_pairs;
  SOFFIT_TRY(rope.dimensions, metadata.integer("rope.dimension_count", {2, config.head_dim}, config.head_dim));
  if (rope.dimensions % 2 != 0) {
    return invalid_file("key '" + metadata.key("rope.dimension_count") + "' is " + std::to_string(rope.dimensions) +
                        ", expected an even number");
  }
  SOFFIT_TRY(rope.base, metadata.number("rope.freq_base", true, 10000.0f));
  SOFFIT_TRY(const std::string type, metadata.string("rope.scaling.type", "linear"));
  if (type != "none" && type != "linear" && type != "yarn") {
    return unsupported("key '" + metadata.key("rope.scaling.type") + "' is '" + escaped(type, 80) +
                       "'; supported: none, linear, yarn");
  }
  SOFFIT_TRY(const float old_factor, metadata.number("rope.scale_linear", false, 0.0f));
  SOFFIT_TRY(const float factor, metadata.number("rope.scaling.factor", false, old_factor));
  if (type != "none" && factor != 0) rope.frequency_scale = 1.0f / factor;
  if (!std::isfinite(rope.frequency_scale)) {
    return invalid_file("key '" + metadata.key("rope.scaling.factor") + "' is " + std::to_string(factor) +
                        ", which has no finite reciprocal");
  }
  SOFFIT_TRY(rope.attention_factor, metadata.number("rope.scaling.attn_factor", true, 1.0f));
  rope.extrapolation = type == "yarn" ? 1.0f : 0.0f;
  SOFFIT_TRY(rope.original_context,
             metadata.integer("rope.scaling.original_context_length", {1, kMaxPositions}, config.context));
  return rope;
}

Status read_experts(const Metadata& metadata, Config& config) {
  SOFFIT_TRY(config.experts, metadata.integer("expert_count", {0, kMaxExperts}, 0));
  SOFFIT_TRY(config.experts_used, metadata.integer("expert_used_count", {0, config.experts}, 0));
  if ((config.experts == 0) != (config.experts_used == 0)) {
    return invalid_file("key '" + metadata.key("expert_used_count") + "' is " + std::to_string(config.experts_used) +
                        " for " + std::to_string(config.experts) + " experts");
  }
  const auto rule = config.architecture->experts;
  if (rule == (config.experts > 0 ? Architecture::Experts::never : Architecture::Experts::always)) {
    return unsupported("architecture '" + metadata.architecture() + "' with " + std::to_string(config.experts) +
                       " experts (key '" + metadata.key("expert_count") + "')");
  }
  SOFFIT_TRY(const float scale, metadata.number("expert_weights_scale", false, 0.0f));
  if (scale == 0 || scale == 1) return {};
  return unsupported("key '" + metadata.key("expert_weights_scale") + "' is " + std::to_string(scale) +
                     ": llama.cpp ignores it for this architecture, so what it should do is not known");
}

Status read_layers(const Metadata& metadata, Config& config, int64_t layers) {
  SOFFIT_TRY(const auto heads, metadata.per_layer("attention.head_count", {1, kMaxHeads}, layers));
  auto key_value_heads = heads;
  if (metadata.has("attention.head_count_kv")) {
    SOFFIT_TRY(key_value_heads, metadata.per_layer("attention.head_count_kv", {1, kMaxHeads}, layers));
  }
  for (size_t i = 0; i < heads.size(); i++) {
    if (heads[i] % key_value_heads[i] != 0) {
      return invalid_file("layer " + std::to_string(i) + ": " + std::to_string(heads[i]) +
                          " heads are no multiple of " + std::to_string(key_value_heads[i]) + " key-value heads");
    }
  }
  if (!metadata.has("attention.key_length") && config.embedding < heads[0]) {
    return invalid_file("embedding length " + std::to_string(config.embedding) + " is less than " +
                        std::to_string(heads[0]) + " heads");
  }
  SOFFIT_TRY(config.head_dim, metadata.integer("attention.key_length", {2, kMaxHeadDim}, config.embedding / heads[0]));
  SOFFIT_TRY(const int64_t value_dim,
             metadata.integer("attention.value_length", {1, kMaxHeadDim}, config.embedding / heads[0]));
  if (value_dim != config.head_dim) {
    return unsupported("key length " + std::to_string(config.head_dim) + " and value length " +
                       std::to_string(value_dim) + ": only equal ones are supported");
  }
  std::vector<int64_t> feed_forward(size_t(layers), 0);
  if (metadata.has("feed_forward_length")) {
    SOFFIT_TRY(feed_forward, metadata.per_layer("feed_forward_length", {0, kMaxWidth}, layers));
  }
  SOFFIT_TRY(const RopeParameters rope, read_rope(metadata, config));
  config.layers.resize(size_t(layers));
  for (size_t i = 0; i < config.layers.size(); i++) {
    config.layers[i] = {heads[i], key_value_heads[i], feed_forward[i], 0, rope};
  }
  return {};
}

}  // namespace

Result<Config> read_config(const gguf::File& file) {
  SOFFIT_TRY(const Architecture* architecture, find_architecture(file));
  const Metadata metadata(file, std::string(architecture->name));
  SOFFIT_CHECK(refuse_unknown_transformations(metadata));

  Config config;
  config.architecture = architecture;
  // Before anything is sized by it.
  SOFFIT_TRY(const int64_t layers, metadata.integer("block_count", {1, kMaxLayers}));
  SOFFIT_TRY(config.vocabulary, read_vocabulary(metadata));
  SOFFIT_TRY(config.embedding, metadata.integer("embedding_length", {1, kMaxWidth}));
  SOFFIT_TRY(config.context, metadata.integer("context_length", {1, kMaxPositions}));
  SOFFIT_TRY(config.epsilon, metadata.number("attention.layer_norm_rms_epsilon", false));
  SOFFIT_CHECK(read_experts(metadata, config));
  SOFFIT_CHECK(read_layers(metadata, config, layers));
  config.attention_scale = float(1.0 / std::sqrt(double(config.head_dim)));
  if (architecture->configure) SOFFIT_CHECK(architecture->configure(metadata, config));

  for (size_t i = 0; i < config.layers.size(); i++) {
    if (config.layers[i].feed_forward < 1) {
      return invalid_file("layer " + std::to_string(i) + ": feed-forward length is " +
                          std::to_string(config.layers[i].feed_forward) + " (key '" +
                          metadata.key("feed_forward_length") + "')");
    }
  }
  return config;
}

}  // namespace soffit::model
