// Byte-level byte-pair encoding: the merge table and the merging of one word.
// Source: Sennrich et al. 2016 (BPE), GPT-2 (bytes as the alphabet); ties and missing pieces as in llama.cpp.
#pragma once

#include <array>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "text/flat_index.hpp"
#include "text/token_map.hpp"
#include "text/vocabulary.hpp"

namespace soffit::text {

// Strings as numbers: a token's symbol is its id; strings that only merges know get numbers above the vocabulary.
using Symbol = uint32_t;

class MergeTable {
 public:
  MergeTable(const Vocabulary& vocabulary, const TokenMap& map);

  struct Merge {
    Symbol left, right, result;
    uint32_t rank;
  };
  // Null when the two do not merge.
  const Merge* find(Symbol left, Symbol right) const;
  Symbol symbol_of_byte(uint8_t byte) const { return byte_symbols_[byte]; }
  bool is_token(Symbol symbol) const { return symbol < vocabulary_size_; }
  std::string_view extra_string(Symbol symbol) const { return extra_[symbol - vocabulary_size_]; }

 private:
  Symbol intern(std::string_view text);

  const TokenMap& map_;
  uint32_t vocabulary_size_;
  std::deque<std::string> extra_;
  FlatIndex extra_index_;
  std::vector<Merge> merges_;
  FlatIndex merge_index_;
  std::array<Symbol, 256> byte_symbols_{};
};

// Merges the lowest rank first, leftmost of equals, until nothing merges: O(n log n) for a word of n bytes.
// Holds the memory of the work, so that a text's words share it.
class WordMerger {
 public:
  explicit WordMerger(const MergeTable& table) : table_(table) {}
  // Valid until the next call.
  std::span<const Symbol> merge(std::string_view word);

 private:
  struct Candidate {
    uint32_t rank, position;  // of the left symbol
    Symbol left, right, result;
    // std::push_heap keeps the largest first: the largest here is the lowest rank, then the leftmost.
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };
  void consider(uint32_t position);

  static constexpr uint32_t kEnd = UINT32_MAX;
  static constexpr Symbol kGone = UINT32_MAX;
  const MergeTable& table_;
  std::vector<Symbol> symbols_;
  std::vector<uint32_t> previous_, next_;
  std::vector<Candidate> heap_;
};

}  // namespace soffit::text
