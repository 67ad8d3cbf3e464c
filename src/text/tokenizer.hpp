// Text ↔ token ids, for one vocabulary. Immutable, and safe to use from any number of threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"
#include "text/segmenter.hpp"
#include "text/special_tokens.hpp"
#include "text/stream_decoder.hpp"
#include "text/vocabulary.hpp"

namespace soffit::text {

struct EncodeOptions {
  bool add_special = true;     // begin- and end-of-sequence tokens, where the model wants them
  bool parse_special = false;  // control tokens named in the text become those tokens; user-defined ones always do
};

struct DecodeOptions {
  bool skip_special = false;  // leave control and unknown tokens out
};

class Tokenizer {
 public:
  static Result<std::shared_ptr<const Tokenizer>> create(Vocabulary vocabulary);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // At most 2^31 - 1 bytes. `loss`, if given, counts what could not be kept.
  Result<std::vector<TokenId>> encode(std::string_view text, EncodeOptions options = {},
                                      EncodeLoss* loss = nullptr) const;

  // The bytes that a token stands for (special tokens: their names). A piece need not be whole UTF-8.
  Result<std::string_view> piece(TokenId id) const;
  // The pieces joined, without the space that encode() puts before the text where a vocabulary asks for it.
  Result<std::string> decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;

  size_t vocabulary_size() const { return vocabulary_.size(); }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  // Of a valid id.
  bool is_control(TokenId id) const;
  bool is_end_of_generation(TokenId id) const;
  std::span<const TokenId> end_of_generation() const { return ends_; }
  std::optional<TokenId> find(std::string_view token_text) const { return map_.find(token_text); }
  std::optional<TokenId> bos() const { return vocabulary_.ids.bos; }
  std::optional<TokenId> eos() const { return vocabulary_.ids.eos; }
  bool adds_bos() const { return add_bos_; }
  bool adds_eos() const { return add_eos_; }

 private:
  explicit Tokenizer(Vocabulary vocabulary);
  Status prepare();
  void make_pieces();

  Vocabulary vocabulary_;
  TokenMap map_;
  std::vector<TokenId> ends_;
  bool add_bos_ = false, add_eos_ = false, add_space_prefix_ = false;
  std::unique_ptr<Segmenter> segmenter_;
  std::unique_ptr<SpecialTokenFinder> user_defined_, all_special_;
  std::string piece_bytes_;             // all pieces, one after the other
  std::vector<uint64_t> piece_starts_;  // one more than there are tokens
};

// Generated tokens → text that can be shown at once: see StreamDecoder.
class TokenStream {
 public:
  explicit TokenStream(const Tokenizer& tokenizer, DecodeOptions options = {})
      : tokenizer_(tokenizer), options_(options) {}
  Result<std::string> push(TokenId id);
  std::string finish() { return decoder_.finish(); }

 private:
  const Tokenizer& tokenizer_;
  DecodeOptions options_;
  StreamDecoder decoder_;
};

}  // namespace soffit::text
