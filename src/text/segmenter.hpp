// What a tokenizer's algorithm does with a stretch of text that holds no special token.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"
#include "text/token_map.hpp"
#include "text/vocabulary.hpp"

namespace soffit::text {

// SentencePiece writes a space as U+2581, so that tokens can hold it.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

// What an encoding could not keep of its text. Nothing is lost with the vocabularies of real models and valid UTF-8.
struct EncodeLoss {
  size_t replaced_bytes = 0;  // invalid UTF-8 that became U+FFFD (byte-level BPE)
  size_t dropped_bytes = 0;   // bytes for which the vocabulary has no token
};

class Segmenter {
 public:
  virtual ~Segmenter() = default;
  // Appends the ids of `text`. `after_special`: it begins the whole text or follows a special token. Safe to call
  // from several threads.
  virtual Status encode(std::string_view text, bool after_special, std::vector<TokenId>& ids,
                        EncodeLoss& loss) const = 0;
};

// Both refer to the vocabulary and the map, which must outlive the segmenter.
Result<std::unique_ptr<Segmenter>> make_bpe(const Vocabulary& vocabulary, const TokenMap& map);
Result<std::unique_ptr<Segmenter>> make_sentencepiece(const Vocabulary& vocabulary, const TokenMap& map,
                                                      bool add_space_prefix);

}  // namespace soffit::text
