// Special tokens: which ones end a generation, and where a text names them.
// Source: llama.cpp, which finds roles by the tokens' texts where a file does not say them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/token_map.hpp"
#include "text/vocabulary.hpp"

namespace soffit::text {

// Fills the ids that the file leaves open by their tokens' texts, makes control tokens of what is one by its text,
// and returns every id that ends a generation, sorted.
std::vector<TokenId> resolve_special_tokens(Vocabulary& vocabulary, const TokenMap& map);

// A stretch of the text, or a special token found in it.
struct Fragment {
  std::string_view text;
  TokenId token = -1;  // negative: text
};

// Finds special tokens in text: the longest first over the whole text, each from left to right.
class SpecialTokenFinder {
 public:
  enum class Which {
    user_defined,  // always recognised
    all,           // control and unknown tokens too
  };
  SpecialTokenFinder(const Vocabulary& vocabulary, Which which);

  // The text cut at its special tokens; no fragment is empty.
  std::vector<Fragment> partition(std::string_view text) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Entry {
    std::string_view text;
    TokenId id;
    uint32_t prefix;  // the longest entry that this one begins with, or kNone
  };
  uint32_t longest_at(std::string_view text, size_t start) const;

  std::vector<Entry> entries_;              // sorted by text
  std::array<uint32_t, 257> first_byte_{};  // those that begin with byte b are [first_byte_[b], first_byte_[b + 1])
  size_t longest_ = 0;
};

}  // namespace soffit::text
