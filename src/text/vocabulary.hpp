// A tokenizer's data as a GGUF file stores it: plain values, so that tests can write one by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace soffit::text {

using TokenId = int32_t;

enum class TokenType : uint8_t {
  undefined = 0,
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6,
};

// tokenizer.ggml.model: "gpt2" and "llama".
enum class Algorithm { byte_level_bpe, sentencepiece };

struct SpecialIds {
  std::optional<TokenId> bos, eos, eot, eom, unknown, separator, padding, mask;
  std::optional<TokenId> fim_prefix, fim_suffix, fim_middle, fim_padding, fim_repository, fim_separator;
};

struct Vocabulary {
  Algorithm algorithm = Algorithm::byte_level_bpe;
  std::string pre;                  // name of the pre-tokeniser, byte-level BPE only; empty means "default"
  std::vector<std::string> tokens;  // may hold empty and duplicate strings; the lowest id of a string wins
  std::vector<float> scores;        // SentencePiece only; empty: all zero
  std::vector<TokenType> types;     // empty: all normal
  std::vector<std::string> merges;  // byte-level BPE only, "left right", best first
  SpecialIds ids;
  std::optional<bool> add_bos, add_eos, add_space_prefix;  // unset: the default of the algorithm and of `pre`
  std::optional<std::string> chat_template;
  std::vector<std::string> warnings;  // what the file says that was left out of account, such as ids out of range

  size_t size() const { return tokens.size(); }
  TokenType type(TokenId id) const { return types.empty() ? TokenType::normal : types[size_t(id)]; }
};

}  // namespace soffit::text
