#include "synth/vocabulary.hpp"

#include "core/concat.hpp"
#include "text/byte_alphabet.hpp"

namespace soffit::synth {
namespace {

enum TokenType : int32_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

// In the order of the published vocabularies.
constexpr std::string_view kQwenSpecials[] = {
    "<|endoftext|>",  "<|im_start|>",   "<|im_end|>",      "<|object_ref_start|>", "<|object_ref_end|>",
    "<|box_start|>",  "<|box_end|>",    "<|quad_start|>",  "<|quad_end|>",         "<|vision_start|>",
    "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>",   "<|video_pad|>",        "<tool_call>",
    "</tool_call>",   "<|fim_prefix|>", "<|fim_middle|>",  "<|fim_suffix|>",       "<|fim_pad|>",
    "<|repo_name|>",  "<|file_sep|>",   "<tool_response>", "</tool_response>",     "<think>",
    "</think>",
};
constexpr std::string_view kLlamaSpecials[] = {
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|reserved_special_token_0|>",
    "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>",
    "<|reserved_special_token_2|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
};
constexpr int kLlamaSpecialCount = 256;

constexpr std::string_view kChatMl =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
constexpr std::string_view kLlama3 =
    "{% for message in messages %}{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + "
    "message['content'] | trim + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}{{ "
    "'<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}";

constexpr std::string_view kLetters = "etaoinshrdlcumwfgypbvkjxqz";  // commonest first
constexpr std::string_view kSpace = "\xC4\xA0";                      // U+0120, the alphabet's space

// Adds tokens until there are as many as wanted.
class Grower {
 public:
  Grower(Vocabulary& vocabulary, size_t wanted) : vocabulary_(vocabulary), wanted_(wanted) {}

  bool full() const { return vocabulary_.tokens.size() >= wanted_; }
  std::string merge(std::string_view left, std::string_view right) {
    std::string token = concat(left, right);
    if (full()) return token;
    vocabulary_.tokens.push_back(token);
    vocabulary_.merges.push_back(concat(left, " ", right));
    return token;
  }

 private:
  Vocabulary& vocabulary_;
  const size_t wanted_;
};

void add_bytes(Vocabulary& vocabulary) {
  for (const bool itself : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      if (text::byte_stands_for_itself(uint32_t(byte)) != itself) continue;
      const char raw = char(byte);
      vocabulary.tokens.push_back(text::to_byte_alphabet({&raw, 1}));
    }
  }
}

void add_words(Vocabulary& vocabulary, size_t wanted) {
  Grower grower(vocabulary, wanted);
  std::vector<std::string> letters, pairs, triples;
  for (const char letter : kLetters) letters.emplace_back(1, letter);
  for (const auto& a : letters)
    for (const auto& b : letters) pairs.push_back(grower.merge(a, b));
  for (const auto& a : letters) grower.merge(kSpace, a);
  for (const auto& ab : pairs) grower.merge(kSpace, ab);
  for (const auto& ab : pairs)
    for (const auto& c : letters) triples.push_back(grower.merge(ab, c));
  for (const auto& abc : triples) grower.merge(kSpace, abc);
  for (size_t i = 0; i < pairs.size() && !grower.full(); ++i)
    for (const auto& cd : pairs) grower.merge(pairs[i], cd);
}

void add(Vocabulary& vocabulary, std::string_view token, TokenType type) {
  vocabulary.tokens.emplace_back(token);
  vocabulary.types.push_back(type);
}

void add_qwen_specials(Vocabulary& vocabulary) {
  const auto first = uint32_t(vocabulary.tokens.size());
  for (const std::string_view token : kQwenSpecials)
    add(vocabulary, token, token.starts_with("<|") ? kControl : kUserDefined);
  vocabulary.pre = "qwen2";
  vocabulary.begin = first, vocabulary.end = first + 2, vocabulary.padding = first;
  vocabulary.add_begin = false;
  vocabulary.chat_template = kChatMl;
}

void add_llama_specials(Vocabulary& vocabulary) {
  const auto first = uint32_t(vocabulary.tokens.size());
  for (const std::string_view token : kLlamaSpecials) add(vocabulary, token, kControl);
  for (int i = int(std::size(kLlamaSpecials)); i < kLlamaSpecialCount; ++i)
    add(vocabulary, concat("<|reserved_special_token_", i - 8, "|>"), kControl);
  vocabulary.pre = "llama-bpe";
  vocabulary.begin = first, vocabulary.end = first + 9, vocabulary.padding = first + 4;
  vocabulary.add_begin = true;
  vocabulary.chat_template = kLlama3;
}

}  // namespace

Result<Vocabulary> make_vocabulary(const Shape& shape) {
  Vocabulary vocabulary;
  vocabulary.tokens.reserve(size_t(shape.vocabulary));
  add_bytes(vocabulary);
  add_words(vocabulary, size_t(shape.ordinary_tokens));
  vocabulary.types.assign(vocabulary.tokens.size(), kNormal);
  const int64_t ordinary = int64_t(vocabulary.tokens.size());
  shape.is_llama() ? add_llama_specials(vocabulary) : add_qwen_specials(vocabulary);
  if (ordinary != shape.ordinary_tokens || int64_t(vocabulary.tokens.size()) > shape.vocabulary) {
    return invalid_argument(concat("a vocabulary of ", shape.vocabulary, " with ", shape.ordinary_tokens,
                                   " ordinary tokens cannot be made: of those there are 256 to 493506, and ",
                                   int64_t(vocabulary.tokens.size()) - ordinary, " special ones"));
  }
  while (int64_t(vocabulary.tokens.size()) < shape.vocabulary)
    add(vocabulary, concat("[PAD", vocabulary.tokens.size(), "]"), kUnused);
  return vocabulary;
}

}  // namespace soffit::synth
