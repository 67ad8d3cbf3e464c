#include "synth/tensors.hpp"

#include "core/concat.hpp"

namespace soffit::synth {
namespace {

void add_layer(const Shape& shape, int64_t layer, std::vector<TensorPlan>& tensors) {
  const auto add = [&](const char* name, Role role, std::vector<int64_t> dimensions) {
    tensors.push_back({concat("blk.", layer, ".", name, ".weight"), role, layer, std::move(dimensions)});
  };
  const int64_t width = shape.embedding, queries = shape.heads * shape.head_dim;
  const int64_t keys = shape.key_value_heads * shape.head_dim;
  add("attn_norm", Role::norm, {width});
  add("attn_q", Role::query, {width, queries});
  add("attn_k", Role::key, {width, keys});
  add("attn_v", Role::value, {width, keys});
  add("attn_output", Role::attention_output, {queries, width});
  if (!shape.is_llama()) {
    add("attn_q_norm", Role::norm, {shape.head_dim});
    add("attn_k_norm", Role::norm, {shape.head_dim});
  }
  add("ffn_norm", Role::norm, {width});
  if (shape.experts > 0) {
    const int64_t hidden = shape.expert_feed_forward, experts = shape.experts;
    add("ffn_gate_inp", Role::router, {width, experts});
    add("ffn_gate_exps", Role::gate, {width, hidden, experts});
    add("ffn_up_exps", Role::up, {width, hidden, experts});
    add("ffn_down_exps", Role::down, {hidden, width, experts});
  } else {
    add("ffn_gate", Role::gate, {width, shape.feed_forward});
    add("ffn_up", Role::up, {width, shape.feed_forward});
    add("ffn_down", Role::down, {shape.feed_forward, width});
  }
}

}  // namespace

std::vector<TensorPlan> plan_tensors(const Shape& shape) {
  std::vector<TensorPlan> tensors;
  const auto add = [&](const char* name, Role role, std::vector<int64_t> dimensions) {
    tensors.push_back({name, role, -1, std::move(dimensions)});
  };
  add("token_embd.weight", shape.tied ? Role::output : Role::embedding, {shape.embedding, shape.vocabulary});
  if (shape.stretch.factor > 0) add("rope_freqs.weight", Role::rope_factors, {shape.head_dim / 2});
  for (int64_t layer = 0; layer < shape.layers; ++layer) add_layer(shape, layer, tensors);
  add("output_norm.weight", Role::norm, {shape.embedding});
  if (!shape.tied) add("output.weight", Role::output, {shape.embedding, shape.vocabulary});
  return tensors;
}

}  // namespace soffit::synth
