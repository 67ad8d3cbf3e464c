// Models of every architecture as small as they can be, and some that lack something.
#include <string>
#include <vector>

#include "corpus.hpp"
#include "fault.hpp"

namespace soffit::fuzz {
namespace {

struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  Format format = Format::f32;
};

struct Model {
  const char* architecture;
  int64_t width = 8, heads = 2, key_value_heads = 1, head_dim = 4, feed_forward = 8, experts = 0, layers = 1,
          vocabulary = 5;
  std::vector<std::pair<std::string, gguf::OwnedValue>> keys = {};  // besides those below
  std::vector<Tensor> tensors = {};

  void matrix(const std::string& name, std::vector<int64_t> shape) {
    tensors.push_back({name + ".weight", std::move(shape)});
  }

  // What all architectures have.
  Model& fill() {
    matrix("token_embd", {width, vocabulary});
    matrix("output_norm", {width});
    for (int64_t i = 0; i < layers; i++) {
      const std::string block = "blk." + std::to_string(i) + ".";
      matrix(block + "attn_norm", {width});
      matrix(block + "ffn_norm", {width});
      matrix(block + "attn_q", {width, heads * head_dim});
      matrix(block + "attn_k", {width, key_value_heads * head_dim});
      matrix(block + "attn_v", {width, key_value_heads * head_dim});
      matrix(block + "attn_output", {heads * head_dim, width});
      if (experts > 0) {
        matrix(block + "ffn_gate_inp", {width, experts});
        matrix(block + "ffn_gate_exps", {width, feed_forward, experts});
        matrix(block + "ffn_up_exps", {width, feed_forward, experts});
        matrix(block + "ffn_down_exps", {feed_forward, width, experts});
      } else {
        matrix(block + "ffn_gate", {width, feed_forward});
        matrix(block + "ffn_up", {width, feed_forward});
        matrix(block + "ffn_down", {feed_forward, width});
      }
    }
    return *this;
  }
  Model& in_layers(const char* name, int64_t length) {
    for (int64_t i = 0; i < layers; i++) tensors.push_back({"blk." + std::to_string(i) + "." + name, {length}});
    return *this;
  }
  Model& head_norms() { return in_layers("attn_q_norm.weight", head_dim).in_layers("attn_k_norm.weight", head_dim); }

  void write(gguf::Writer& writer) const;
};

void Model::write(gguf::Writer& writer) const {
  const auto done = [](const Status& status) { expect(bool(status), "a model that cannot be written"); };
  const auto add = [&](const std::string& key, const gguf::OwnedValue& value) {
    done(writer.add(std::string(architecture) + "." + key, value));
  };
  done(writer.add("general.architecture", gguf::OwnedValue(std::string(architecture))));
  add("block_count", uint32_t(layers));
  add("context_length", uint32_t(16));
  add("embedding_length", uint32_t(width));
  add("feed_forward_length", uint32_t(feed_forward));
  add("attention.head_count", uint32_t(heads));
  add("attention.head_count_kv", uint32_t(key_value_heads));
  add("attention.key_length", uint32_t(head_dim));
  add("attention.value_length", uint32_t(head_dim));
  add("attention.layer_norm_rms_epsilon", 1e-5f);
  add("vocab_size", uint32_t(vocabulary));
  for (const auto& [key, value] : keys) add(key, value);
  for (const Tensor& tensor : tensors) done(writer.describe(tensor.name, uint32_t(tensor.format), tensor.shape));
  for (const Tensor& tensor : tensors) {
    size_t count = 1;
    for (const int64_t dimension : tensor.shape) count *= size_t(dimension);
    std::vector<float> values(count);
    for (size_t i = 0; i < count; i++) values[i] = float(int(i * 7 % 13) - 6) / 8;
    const FormatInfo& format = info(tensor.format);
    std::vector<std::byte> bytes(count / format.block_elements * format.block_bytes);
    format.encode(values.data(), bytes.data(), count / format.block_elements);
    done(writer.write(bytes));
  }
}

}  // namespace

void make_model(const Corpus& corpus) {
  const auto seed = [&](const char* name, const Model& model) {
    corpus.seed_file(name, [&](gguf::Writer& writer) { model.write(writer); });
  };
  const Model llama = Model{.architecture = "llama"}.fill();
  seed("llama", llama);
  seed("qwen2", Model{.architecture = "qwen2"}
                    .fill()
                    .in_layers("attn_q.bias", 8)
                    .in_layers("attn_k.bias", 4)
                    .in_layers("attn_v.bias", 4));
  seed("qwen3", Model{.architecture = "qwen3"}.fill().head_norms());
  seed("qwen3moe", Model{.architecture = "qwen3moe",
                         .experts = 3,
                         .keys = {{"expert_count", uint32_t(3)},
                                  {"expert_used_count", uint32_t(2)},
                                  {"expert_feed_forward_length", uint32_t(8)}}}
                       .fill()
                       .head_norms());
  seed("gemma3", Model{.architecture = "gemma3",
                       .layers = 2,
                       .keys = {{"attention.sliding_window", uint32_t(2)},
                                {"attention.sliding_window_pattern", uint32_t(2)},
                                {"rope.freq_base", 1e6f}}}
                     .fill()
                     .head_norms()
                     .in_layers("post_attention_norm.weight", 8)
                     .in_layers("post_ffw_norm.weight", 8));

  Model stretched = llama;
  stretched.keys = {{"rope.scaling.type", std::string("yarn")},
                    {"rope.scaling.factor", 4.0f},
                    {"rope.scaling.original_context_length", uint32_t(4)}};
  stretched.tensors.push_back({"rope_freqs.weight", {2}});
  stretched.tensors.push_back({"blk.0.attn_q.scale", {1}});
  stretched.matrix("output", {8, 5});
  seed("stretched", stretched);

  Model quantised = Model{.architecture = "llama", .width = 32, .head_dim = 16, .feed_forward = 32}.fill();
  for (Tensor& tensor : quantised.tensors)
    if (tensor.shape.size() > 1) tensor.format = Format::q4_0;
  seed("quantised", quantised);

  Model misshapen = llama;
  misshapen.tensors.back().shape = {8, 7};
  seed("misshapen", misshapen);
  Model incomplete = llama;
  incomplete.tensors.pop_back();
  seed("incomplete", incomplete);
  seed("unknown", {.architecture = "mamba\x1b[2J"});
}

}  // namespace soffit::fuzz
