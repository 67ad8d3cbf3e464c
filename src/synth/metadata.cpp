#include "synth/metadata.hpp"

#include "core/concat.hpp"
#include "synth/vocabulary.hpp"

namespace soffit::synth {
namespace {

// Keeps the first error, so that a list of keys reads as one.
class Keys {
 public:
  explicit Keys(gguf::Writer& writer) : writer_(writer) {}

  void add(std::string_view key, gguf::OwnedValue value) {
    if (status_) status_ = writer_.add(key, value);
  }
  void add_count(std::string_view key, int64_t count) { add(key, uint32_t(count)); }
  Status status() const { return status_; }

 private:
  gguf::Writer& writer_;
  Status status_;
};

void add_general(Keys& keys, const Shape& shape, const Mix& mix, uint64_t seed) {
  keys.add("general.architecture", std::string(shape.architecture));
  keys.add("general.type", std::string("model"));
  keys.add("general.name", concat("Synthetic ", shape.title, " ", mix.name(), " (random weights)"));
  keys.add("general.description",
           concat("Random weights in the shapes of ", shape.title, ", for measurements. Not a trained model."));
  keys.add(kSyntheticKey, true);
  keys.add("soffit.synthetic.seed", seed);
  keys.add("general.file_type", mix.file_type());
  keys.add("general.quantization_version", uint32_t(2));
}

void add_architecture(Keys& keys, const Shape& shape) {
  const auto key = [&](std::string_view name) { return concat(shape.architecture, ".", name); };
  keys.add_count(key("block_count"), shape.layers);
  keys.add_count(key("context_length"), shape.context);
  keys.add_count(key("embedding_length"), shape.embedding);
  keys.add_count(key("feed_forward_length"), shape.feed_forward);
  keys.add_count(key("attention.head_count"), shape.heads);
  keys.add_count(key("attention.head_count_kv"), shape.key_value_heads);
  keys.add_count(key("attention.key_length"), shape.head_dim);
  keys.add_count(key("attention.value_length"), shape.head_dim);
  keys.add(key("attention.layer_norm_rms_epsilon"), shape.epsilon);
  keys.add(key("rope.freq_base"), shape.rope_base);
  if (shape.is_llama()) keys.add_count(key("rope.dimension_count"), shape.head_dim);
  keys.add_count(key("vocab_size"), shape.vocabulary);
  if (shape.experts == 0) return;
  keys.add_count(key("expert_count"), shape.experts);
  keys.add_count(key("expert_used_count"), shape.experts_used);
  keys.add_count(key("expert_feed_forward_length"), shape.expert_feed_forward);
}

void add_tokenizer(Keys& keys, Vocabulary vocabulary) {
  keys.add("tokenizer.ggml.model", std::string("gpt2"));
  keys.add("tokenizer.ggml.pre", std::string(vocabulary.pre));
  keys.add("tokenizer.ggml.tokens", gguf::Array(std::move(vocabulary.tokens)));
  keys.add("tokenizer.ggml.token_type", gguf::Array(std::move(vocabulary.types)));
  keys.add("tokenizer.ggml.merges", gguf::Array(std::move(vocabulary.merges)));
  keys.add("tokenizer.ggml.bos_token_id", vocabulary.begin);
  keys.add("tokenizer.ggml.eos_token_id", vocabulary.end);
  keys.add("tokenizer.ggml.padding_token_id", vocabulary.padding);
  keys.add("tokenizer.ggml.add_bos_token", vocabulary.add_begin);
  keys.add("tokenizer.chat_template", std::string(vocabulary.chat_template));
}

}  // namespace

Status write_metadata(gguf::Writer& writer, const Shape& shape, const Mix& mix, uint64_t seed) {
  SOFFIT_TRY(Vocabulary vocabulary, make_vocabulary(shape));
  Keys keys(writer);
  add_general(keys, shape, mix, seed);
  add_architecture(keys, shape);
  add_tokenizer(keys, std::move(vocabulary));
  return keys.status();
}

}  // namespace soffit::synth
