#include "text/bpe.hpp"

#include <algorithm>

#include "text/byte_alphabet.hpp"
#include "text/pretokenizer.hpp"
#include "text/segmenter.hpp"
#include "text/utf8.hpp"

namespace soffit::text {
namespace {

uint64_t pair_hash(Symbol left, Symbol right) {
  uint64_t hash = (uint64_t(left) << 32 | right) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

}  // namespace

MergeTable::MergeTable(const Vocabulary& vocabulary, const TokenMap& map)
    : map_(map), vocabulary_size_(uint32_t(vocabulary.size())), merge_index_(vocabulary.merges.size()) {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    std::string letter;
    append_utf8(letter, kByteAlphabet[byte]);
    byte_symbols_[byte] = intern(letter);
  }
  merges_.reserve(vocabulary.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    const std::string_view merge = vocabulary.merges[rank];
    // A half may itself begin with a space in odd files; the alphabet has none. A line without a space, or with an
    // empty right half, can never apply.
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size()) continue;
    const Symbol left = intern(merge.substr(0, space)), right = intern(merge.substr(space + 1));
    if (find(left, right)) continue;  // of a repeated line the first counts
    joined.assign(merge.substr(0, space)).append(merge.substr(space + 1));
    merge_index_.insert(pair_hash(left, right), uint32_t(merges_.size()));
    merges_.push_back({left, right, intern(joined), uint32_t(rank)});
  }
}

Symbol MergeTable::intern(std::string_view text) {
  if (auto id = map_.find(text)) return Symbol(*id);
  const uint64_t hash = std::hash<std::string_view>{}(text);
  const uint32_t known = extra_index_.find(hash, [&](uint32_t i) { return extra_[i] == text; });
  if (known != FlatIndex::kNone) return vocabulary_size_ + known;
  extra_index_.insert(hash, uint32_t(extra_.size()));
  extra_.emplace_back(text);
  return vocabulary_size_ + uint32_t(extra_.size() - 1);
}

const MergeTable::Merge* MergeTable::find(Symbol left, Symbol right) const {
  const uint32_t position = merge_index_.find(
      pair_hash(left, right), [&](uint32_t i) { return merges_[i].left == left && merges_[i].right == right; });
  return position == FlatIndex::kNone ? nullptr : &merges_[position];
}

void WordMerger::consider(uint32_t position) {
  const uint32_t right = next_[position];
  if (right == kEnd) return;
  if (const auto* merge = table_.find(symbols_[position], symbols_[right])) {
    heap_.push_back({merge->rank, position, merge->left, merge->right, merge->result});
    std::push_heap(heap_.begin(), heap_.end());
  }
}

std::span<const Symbol> WordMerger::merge(std::string_view word) {
  const auto size = uint32_t(word.size());
  symbols_.resize(size), previous_.resize(size), next_.resize(size);
  heap_.clear();
  for (uint32_t i = 0; i < size; ++i) {
    symbols_[i] = table_.symbol_of_byte(uint8_t(word[i]));
    previous_[i] = i == 0 ? kEnd : i - 1;
    next_[i] = i + 1 == size ? kEnd : i + 1;
  }
  for (uint32_t i = 0; i + 1 < size; ++i) consider(i);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Candidate best = heap_.back();
    heap_.pop_back();
    // Symbols only grow, so a pair that still reads the same is still the same.
    if (symbols_[best.position] != best.left) continue;
    const uint32_t right = next_[best.position];
    if (right == kEnd || symbols_[right] != best.right) continue;
    symbols_[best.position] = best.result;
    symbols_[right] = kGone;
    next_[best.position] = next_[right];
    if (next_[right] != kEnd) previous_[next_[right]] = best.position;
    if (previous_[best.position] != kEnd) consider(previous_[best.position]);
    consider(best.position);
  }
  symbols_.erase(std::remove(symbols_.begin(), symbols_.end(), kGone), symbols_.end());
  return symbols_;
}

namespace {

class BpeSegmenter final : public Segmenter {
 public:
  BpeSegmenter(const Vocabulary& vocabulary, const TokenMap& map, Pretokenizer pretokenizer, bool ignore_merges)
      : map_(map), table_(vocabulary, map), pretokenizer_(std::move(pretokenizer)), ignore_merges_(ignore_merges) {}

  Status encode(std::string_view text, bool, std::vector<TokenId>& ids, EncodeLoss& loss) const override {
    const SanitizedText clean = sanitize(text);
    loss.replaced_bytes += clean.replaced_bytes;
    SOFFIT_TRY(const std::vector<uint32_t> words, pretokenizer_.split(clean.text));
    WordMerger merger(table_);
    std::string_view rest = clean.text;
    for (uint32_t size : words) {
      const std::string_view word = rest.substr(0, size);
      rest.remove_prefix(size);
      if (ignore_merges_) {
        if (auto id = map_.find(to_byte_alphabet(word))) {
          ids.push_back(*id);
          continue;
        }
      }
      for (Symbol symbol : merger.merge(word)) {
        if (table_.is_token(symbol)) {
          ids.push_back(TokenId(symbol));
        } else {
          emit_bytes(table_.extra_string(symbol), ids, loss);
        }
      }
    }
    return {};
  }

 private:
  // A piece that is no token: llama.cpp looks up each byte of its spelling, and leaves out what is not there.
  void emit_bytes(std::string_view piece, std::vector<TokenId>& ids, EncodeLoss& loss) const {
    for (size_t offset = 0; offset < piece.size();) {
      const uint32_t length = decode_lenient(piece, offset).length;
      bool found = false;
      for (uint32_t i = 0; i < length; ++i) {
        if (auto id = map_.find(piece.substr(offset + i, 1))) ids.push_back(*id), found = true;
      }
      if (!found) ++loss.dropped_bytes;  // one letter of the alphabet is one byte of the text
      offset += length;
    }
  }

  const TokenMap& map_;
  MergeTable table_;
  Pretokenizer pretokenizer_;
  bool ignore_merges_;
};

}  // namespace

Result<std::unique_ptr<Segmenter>> make_bpe(const Vocabulary& vocabulary, const TokenMap& map) {
  SOFFIT_TRY(const PretokenizerFamily* family, find_pretokenizer_family(vocabulary.pre));
  SOFFIT_TRY(Pretokenizer pretokenizer, Pretokenizer::create(*family));
  return std::unique_ptr<Segmenter>(
      std::make_unique<BpeSegmenter>(vocabulary, map, std::move(pretokenizer), family->ignore_merges));
}

}  // namespace soffit::text
