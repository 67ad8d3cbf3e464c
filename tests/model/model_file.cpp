#include "model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace soffit::test {
namespace {

struct Shape {
  int64_t width = 64, heads = 4, key_value_heads = 2, head_dim = 16, feed_forward = 96, experts = 0, layers = 3,
          vocabulary = 50;
};

ModelFile common(const std::string& architecture, const Shape& s) {
  ModelFile file;
  file.architecture = architecture;
  file.keys = {{"block_count", uint32_t(s.layers)},
               {"context_length", uint32_t(128)},
               {"embedding_length", uint32_t(s.width)},
               {"feed_forward_length", uint32_t(s.feed_forward)},
               {"attention.head_count", uint32_t(s.heads)},
               {"attention.head_count_kv", uint32_t(s.key_value_heads)},
               {"attention.key_length", uint32_t(s.head_dim)},
               {"attention.value_length", uint32_t(s.head_dim)},
               {"attention.layer_norm_rms_epsilon", 1e-5f},
               {"vocab_size", uint32_t(s.vocabulary)}};
  const auto matrix = [&](const std::string& name, std::vector<int64_t> shape) {
    const float scale = 1.0f / std::sqrt(float(shape[0]));
    file.tensors[name + ".weight"] = {std::move(shape), 0, scale};
  };
  const auto norm = [&](const std::string& name) { file.tensors[name + ".weight"] = {{s.width}}; };
  matrix("token_embd", {s.width, s.vocabulary});
  norm("output_norm");
  for (int64_t i = 0; i < s.layers; i++) {
    const std::string block = "blk." + std::to_string(i) + ".";
    norm(block + "attn_norm");
    norm(block + "ffn_norm");
    matrix(block + "attn_q", {s.width, s.heads * s.head_dim});
    matrix(block + "attn_k", {s.width, s.key_value_heads * s.head_dim});
    matrix(block + "attn_v", {s.width, s.key_value_heads * s.head_dim});
    matrix(block + "attn_output", {s.heads * s.head_dim, s.width});
    if (s.experts > 0) {
      matrix(block + "ffn_gate_inp", {s.width, s.experts});
      matrix(block + "ffn_gate_exps", {s.width, s.feed_forward, s.experts});
      matrix(block + "ffn_up_exps", {s.width, s.feed_forward, s.experts});
      matrix(block + "ffn_down_exps", {s.feed_forward, s.width, s.experts});
    } else {
      matrix(block + "ffn_gate", {s.width, s.feed_forward});
      matrix(block + "ffn_up", {s.width, s.feed_forward});
      matrix(block + "ffn_down", {s.feed_forward, s.width});
    }
  }
  return file;
}

void add_to_layers(ModelFile& file, const std::string& name, int64_t length) {
  for (const char* block : {"blk.0.", "blk.1.", "blk.2."}) file.tensors[block + name] = {{length}};
}

void add_head_norms(ModelFile& file, int64_t head_dim) {
  add_to_layers(file, "attn_q_norm.weight", head_dim);
  add_to_layers(file, "attn_k_norm.weight", head_dim);
}

// FNV-1a of the name seeds SplitMix64.
class Random {
 public:
  explicit Random(const std::string& name) {
    for (const char c : name) state_ = (state_ ^ uint8_t(c)) * 1099511628211u;
  }
  // Uniform in [-1, 1).
  float next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return float(int64_t((z ^ z >> 31) >> 40) - (1 << 23)) / float(1 << 23);
  }

 private:
  uint64_t state_ = 14695981039346656037u;
};

void expect_done(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

}  // namespace

ModelFile ModelFile::llama() {
  ModelFile file = common("llama", {});
  file.tensors["output.weight"] = {{64, 50}, 0, 0.125f};
  return file;
}

ModelFile ModelFile::qwen2() {
  ModelFile file = common("qwen2", {});
  for (const char* block : {"blk.0.", "blk.1.", "blk.2."}) {
    file.tensors[block + std::string("attn_q.bias")] = {{64}, 0, 0.5f};
    file.tensors[block + std::string("attn_k.bias")] = {{32}, 0, 0.5f};
    file.tensors[block + std::string("attn_v.bias")] = {{32}, 0, 0.5f};
  }
  return file;
}

ModelFile ModelFile::qwen3() {
  ModelFile file = common("qwen3", {.head_dim = 32});
  add_head_norms(file, 32);
  return file;
}

ModelFile ModelFile::qwen3moe() {
  ModelFile file = common("qwen3moe", {.head_dim = 32, .feed_forward = 32, .experts = 5});
  add_head_norms(file, 32);
  file.keys["expert_count"] = uint32_t(5);
  file.keys["expert_used_count"] = uint32_t(2);
  file.keys["expert_feed_forward_length"] = uint32_t(32);
  return file;
}

ModelFile ModelFile::gemma3() {
  ModelFile file = common("gemma3", {.head_dim = 32});
  add_head_norms(file, 32);
  add_to_layers(file, "post_attention_norm.weight", 64);
  add_to_layers(file, "post_ffw_norm.weight", 64);
  file.keys["attention.sliding_window"] = uint32_t(7);
  file.keys["attention.sliding_window_pattern"] = uint32_t(3);
  file.keys["rope.freq_base"] = 1e6f;
  return file;
}

std::vector<ModelFile> ModelFile::all() { return {llama(), qwen2(), qwen3(), qwen3moe(), gemma3()}; }

std::vector<float> ModelFile::values(const std::string& name) const {
  const Tensor& tensor = tensors.at(name);
  if (!tensor.values.empty()) return tensor.values;
  int64_t count = 1;
  for (const int64_t dimension : tensor.shape) count *= dimension;
  std::vector<float> values(static_cast<size_t>(count), tensor.scale);
  if (tensor.constant) return values;
  Random random(name);
  const bool vector = tensor.shape.size() == 1 && tensor.scale == 1.0f;
  for (float& value : values) value = vector ? 1 + 0.3f * random.next() : tensor.scale * random.next();
  return values;
}

void ModelFile::add_tokenizer() {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {2, 3, 3};
  for (int byte = 0; byte < 256; byte++) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    tokens.emplace_back(text);
    types.push_back(6);
  }
  keys["vocab_size"] = uint32_t(tokens.size());
  for (const char* name : {"token_embd.weight", "output.weight"}) {
    if (const auto tensor = tensors.find(name); tensor != tensors.end())
      tensor->second.shape[1] = int64_t(tokens.size());
  }
  keys[".tokenizer.ggml.model"] = std::string("llama");
  keys[".tokenizer.ggml.scores"] = gguf::Array(std::vector<float>(tokens.size(), 0.0f));
  keys[".tokenizer.ggml.tokens"] = gguf::Array(std::move(tokens));
  keys[".tokenizer.ggml.token_type"] = gguf::Array(std::move(types));
  keys[".tokenizer.ggml.bos_token_id"] = uint32_t(1);
  keys[".tokenizer.ggml.eos_token_id"] = uint32_t(2);
  keys[".tokenizer.ggml.add_space_prefix"] = false;
}

void ModelFile::write(const std::filesystem::path& path) const {
  auto created = gguf::Writer::create(path);
  if (!created) throw std::runtime_error(created.error().message);
  gguf::Writer& writer = **created;
  expect_done(writer.add("general.architecture", gguf::OwnedValue(architecture)));
  for (const auto& [key, value] : keys) {
    expect_done(writer.add(key.starts_with('.') ? key.substr(1) : architecture + "." + key, value));
  }
  for (const auto& [name, tensor] : tensors) expect_done(writer.describe(name, tensor.type, tensor.shape));
  for (const auto& [name, tensor] : tensors) {
    const FormatInfo* format = find_format(tensor.type);
    const std::vector<float> numbers = values(name);
    const size_t blocks = numbers.size() / format->block_elements;
    std::vector<std::byte> bytes(blocks * format->block_bytes);
    if (format->encode) format->encode(numbers.data(), bytes.data(), blocks);
    expect_done(writer.write(bytes));
  }
  expect_done(writer.finish());
}

std::shared_ptr<const gguf::File> ModelFile::open() const {
  static std::atomic<int> count = 0;
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) /
      ("soffit_model_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ".gguf");
  write(path);
  auto file = gguf::File::open(path);
  std::filesystem::remove(path);  // the mapping stays
  if (!file) throw std::runtime_error(file.error().message);
  return *file;
}

}  // namespace soffit::test
