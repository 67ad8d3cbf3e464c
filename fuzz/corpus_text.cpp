// Vocabularies of either algorithm with a text to encode, and some that do not hold together.
#include <string>
#include <vector>

#include "corpus.hpp"
#include "text/byte_alphabet.hpp"

namespace soffit::fuzz {
namespace {

// Words, digits, an emoji, a combining mark, special tokens, a line end, and a byte that is not UTF-8.
constexpr const char* kText =
    "The theme's 1234 na\xc3\xafve caf\x65\xcc\x81s \xf0\x9f\x98\x80<|im_end|>\r\n\t  <start_of_turn>\xff </s>";

struct Tokens {
  std::vector<std::string> texts;
  std::vector<int32_t> types;
  std::vector<float> scores;

  void add(std::string text, int32_t type = 1) {
    scores.push_back(-float(texts.size()));
    texts.push_back(std::move(text));
    types.push_back(type);
  }
};

struct Vocabulary {
  const char* model;
  const char* pre = "";
  Tokens tokens = {};
  std::vector<std::string> merges = {};
  const char* chat_template = "";

  void write(gguf::Writer& writer) const {
    const auto add = [&](const char* key, gguf::OwnedValue value) { (void)writer.add(key, value); };
    add("tokenizer.ggml.model", std::string(model));
    if (*pre) add("tokenizer.ggml.pre", std::string(pre));
    add("tokenizer.ggml.tokens", gguf::Array(tokens.texts));
    add("tokenizer.ggml.token_type", gguf::Array(tokens.types));
    add("tokenizer.ggml.scores", gguf::Array(tokens.scores));
    if (!merges.empty()) add("tokenizer.ggml.merges", gguf::Array(merges));
    add("tokenizer.ggml.eos_token_id", uint32_t(2));
    if (*chat_template) add("tokenizer.chat_template", std::string(chat_template));
    add("fuzz.text", std::string(kText));
  }
};

Vocabulary byte_level(const char* pre) {
  Vocabulary vocabulary = {.model = "gpt2", .pre = pre};
  for (const char* special : {"<|im_start|>", "<|im_end|>", "<|endoftext|>"}) vocabulary.tokens.add(special, 3);
  for (int byte = 0; byte < 256; byte++) vocabulary.tokens.add(text::to_byte_alphabet(std::string(1, char(byte))));
  const std::string space = text::to_byte_alphabet(" ");
  for (const char* text : {"th", "he", "the", "em", "12"}) vocabulary.tokens.add(text);
  vocabulary.tokens.add(space + "the");
  vocabulary.merges = {"t h", "th e", "h e", space + " the", "e m", "1 2", "x y", "nothing"};
  return vocabulary;
}

Vocabulary sentencepiece() {
  Vocabulary vocabulary = {.model = "llama"};
  vocabulary.tokens.add("<unk>", 2);
  for (const char* special : {"<s>", "</s>", "<start_of_turn>", "<end_of_turn>"}) vocabulary.tokens.add(special, 3);
  for (const char* text : {"\xe2\x96\x81", "\xe2\x96\x81the", "\xe2\x96\x81th", "t", "h", "e", "th", "he", "me", ""})
    vocabulary.tokens.add(text);
  vocabulary.tokens.add("\xe2\x96\x81\xe2\x96\x81", 4);
  return vocabulary;
}

}  // namespace

void make_text(const Corpus& corpus) {
  const auto seed = [&](const char* name, const Vocabulary& vocabulary) {
    corpus.seed_file(name, [&](gguf::Writer& writer) { vocabulary.write(writer); });
  };
  Vocabulary chatml = byte_level("qwen2");
  chatml.chat_template = "{{ '<|im_start|>system\\nBe brief.<|im_end|>\\n' }}";
  seed("bpe_chatml", chatml);
  Vocabulary thinking = byte_level("smollm");
  thinking.chat_template =
      "<|im_start|> ns.last_query_index loop.last or (not loop.last and reasoning_content) <think> </think>";
  seed("bpe_thinking", thinking);
  Vocabulary dated = byte_level("llama-bpe");
  dated.chat_template =
      "<|start_header_id|> <|end_header_id|> \"Cutting Knowledge Date: December 2023\\n\" \"Today Date: \" + "
      "date_string";
  seed("bpe_dated", dated);
  Vocabulary incomplete = {.model = "gpt2"};
  for (const char* text : {"t", "h", "th"}) incomplete.tokens.add(text);
  incomplete.merges = {"t h", " e", "h "};
  seed("bpe_incomplete", incomplete);

  Vocabulary gemma = sentencepiece();
  for (int byte = 0; byte < 256; byte++) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    gemma.tokens.add(name, 6);
  }
  gemma.chat_template = "{{ bos_token }} <start_of_turn> <end_of_turn>";
  seed("spm_gemma", gemma);
  seed("spm_without_bytes", sentencepiece());

  Vocabulary uneven = sentencepiece();
  uneven.tokens.scores.pop_back();
  seed("scores_uneven", uneven);
  seed("model_unknown", {.model = "bert\x1b[2J"});
  seed("pre_unknown", byte_level("\x1b]0;title\x07"));
  seed("no_tokens", {.model = "llama"});
}

}  // namespace soffit::fuzz
