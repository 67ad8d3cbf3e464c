// SentencePiece's BPE with scores (Llama 1 and 2, Gemma 1 to 3): the adjacent pair whose union is the token of the
// highest score merges first, leftmost of equals. Source: Kudo and Richardson 2018; details as in llama.cpp.
#include <algorithm>
#include <array>
#include <vector>

#include "text/segmenter.hpp"

namespace soffit::text {
namespace {

// Bytes that a character takes by its first byte; a stray continuation byte is a character of its own.
constexpr uint32_t character_length(uint8_t lead) { return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

class PieceMerger {
 public:
  PieceMerger(std::string_view text, const TokenMap& map, const std::vector<float>& scores)
      : text_(text), map_(map), scores_(scores) {
    for (size_t offset = 0; offset < text.size();) {
      const uint32_t length = uint32_t(std::min<size_t>(character_length(uint8_t(text[offset])), text.size() - offset));
      const auto index = uint32_t(pieces_.size());
      pieces_.push_back({uint32_t(offset), length, index == 0 ? kEnd : index - 1, index + 1});
      offset += length;
    }
    if (!pieces_.empty()) pieces_.back().next = kEnd;
  }

  // Calls emit(piece) for each final piece in order.
  template <class Emit>
  void run(Emit emit) {
    for (uint32_t i = 0; i < pieces_.size(); ++i) consider(i);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Candidate best = heap_.back();
      heap_.pop_back();
      Piece& left = pieces_[best.position];
      // A piece that was merged away has length zero; pieces only grow, so an equal size is the same pair.
      if (left.length == 0 || left.next == kEnd) continue;
      Piece& right = pieces_[left.next];
      if (left.length + right.length != best.size) continue;
      left.length += right.length;
      right.length = 0;
      left.next = right.next;
      if (right.next != kEnd) pieces_[right.next].previous = best.position;
      if (left.previous != kEnd) consider(left.previous);
      consider(best.position);
    }
    for (uint32_t i = pieces_.empty() ? kEnd : 0; i != kEnd; i = pieces_[i].next) {
      emit(text_.substr(pieces_[i].offset, pieces_[i].length));
    }
  }

 private:
  static constexpr uint32_t kEnd = UINT32_MAX;
  struct Piece {
    uint32_t offset, length, previous, next;
  };
  struct Candidate {
    float score;
    uint32_t position, size;
    bool operator<(const Candidate& other) const {
      return score != other.score ? score < other.score : position > other.position;
    }
  };

  void consider(uint32_t position) {
    const Piece& left = pieces_[position];
    if (left.next == kEnd) return;
    const uint32_t size = left.length + pieces_[left.next].length;
    if (auto id = map_.find(text_.substr(left.offset, size))) {
      heap_.push_back({scores_.empty() ? 0.0f : scores_[size_t(*id)], position, size});
      std::push_heap(heap_.begin(), heap_.end());
    }
  }

  std::string_view text_;
  const TokenMap& map_;
  const std::vector<float>& scores_;
  std::vector<Piece> pieces_;
  std::vector<Candidate> heap_;
};

class SentencePieceSegmenter final : public Segmenter {
 public:
  SentencePieceSegmenter(const Vocabulary& vocabulary, const TokenMap& map, bool add_space_prefix)
      : map_(map), scores_(vocabulary.scores), unknown_(vocabulary.ids.unknown), add_space_prefix_(add_space_prefix) {
    constexpr char kHex[] = "0123456789ABCDEF";
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const char name[] = {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
      bytes_[byte] = map.find({name, sizeof name});
      const char raw = char(byte);
      if (!bytes_[byte]) bytes_[byte] = map.find({&raw, 1});
    }
  }

  Status encode(std::string_view text, bool after_special, std::vector<TokenId>& ids, EncodeLoss& loss) const override {
    std::string escaped;
    escaped.reserve(text.size() + text.size() / 4 + 3);
    if (add_space_prefix_ && after_special) escaped.append(kSpaceMark);
    for (char c : text) c == ' ' ? void(escaped.append(kSpaceMark)) : escaped.push_back(c);
    if (escaped.size() > INT32_MAX) {
      return invalid_argument("a text of " + std::to_string(escaped.size()) +
                              " bytes is too long to tokenise; the limit is " + std::to_string(INT32_MAX));
    }
    PieceMerger(escaped, map_, scores_).run([&](std::string_view piece) {
      if (auto id = map_.find(piece)) {
        ids.push_back(*id);
        return;
      }
      for (char byte : piece) {
        if (auto id = bytes_[uint8_t(byte)] ? bytes_[uint8_t(byte)] : unknown_) ids.push_back(*id);
        if (!bytes_[uint8_t(byte)]) ++loss.dropped_bytes;
      }
    });
    return {};
  }

 private:
  const TokenMap& map_;
  const std::vector<float>& scores_;
  std::optional<TokenId> unknown_;
  bool add_space_prefix_;
  std::array<std::optional<TokenId>, 256> bytes_;
};

}  // namespace

Result<std::unique_ptr<Segmenter>> make_sentencepiece(const Vocabulary& vocabulary, const TokenMap& map,
                                                      bool add_space_prefix) {
  return std::unique_ptr<Segmenter>(std::make_unique<SentencePieceSegmenter>(vocabulary, map, add_space_prefix));
}

}  // namespace soffit::text
