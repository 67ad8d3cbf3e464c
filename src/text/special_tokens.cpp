#include "text/special_tokens.hpp"

#include <algorithm>

namespace soffit::text {
namespace {

// In order of preference where only one id is wanted.
constexpr std::string_view kEndOfTurn[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>",         "<|endoftext|>",     "<|end_of_text|>",
    "<EOT>",      "_<EOT>",     "[EOT]",   "<｜end▁of▁sentence｜>", "<end_of_utterance>"};
constexpr std::string_view kEndOfMessage[] = {"<|eom_id|>"};
constexpr std::string_view kFimPrefix[] = {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",   "<｜fim▁begin｜>",
                                           "<PRE>",          "▁<PRE>",       "<|code_prefix|>"};
constexpr std::string_view kFimSuffix[] = {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",   "<｜fim▁hole｜>",
                                           "<SUF>",          "▁<SUF>",       "<|code_suffix|>"};
constexpr std::string_view kFimMiddle[] = {"<|fim_middle|>", "<fim-middle>", "<fim_middle>",   "<｜fim▁end｜>",
                                           "<MID>",          "▁<MID>",       "<|code_middle|>"};
constexpr std::string_view kFimPadding[] = {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"};
constexpr std::string_view kFimRepository[] = {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"};
constexpr std::string_view kFimSeparator[] = {"<|file_sep|>"};
// Each of these ends a generation, whatever the ids of the file say.
constexpr std::string_view kEndOfGeneration[] = {"<|eot_id|>",
                                                 "<|im_end|>",
                                                 "<|end|>",
                                                 "<|return|>",
                                                 "<|call|>",
                                                 "<|flush|>",
                                                 "<|calls|>",
                                                 "<end_of_turn>",
                                                 "<|endoftext|>",
                                                 "</s>",
                                                 "<|eom_id|>",
                                                 "<EOT>",
                                                 "_<EOT>",
                                                 "[EOT]",
                                                 "[EOS]",
                                                 "<|end_of_text|>",
                                                 "<end_of_utterance>",
                                                 "<eos>",
                                                 "<turn|>",
                                                 "<|tool_response>",
                                                 "<｜end▁of▁sentence｜>"};

}  // namespace

std::vector<TokenId> resolve_special_tokens(Vocabulary& vocabulary, const TokenMap& map) {
  SpecialIds& ids = vocabulary.ids;
  const auto make_control = [&](TokenId id) {
    if (vocabulary.type(id) == TokenType::control) return;
    if (vocabulary.types.empty()) vocabulary.types.assign(vocabulary.size(), TokenType::normal);
    vocabulary.types[size_t(id)] = TokenType::control;
  };
  const auto resolve = [&](std::optional<TokenId>& id, const auto& texts) {
    for (size_t i = 0; i < std::size(texts) && !id; ++i) {
      id = map.find(texts[i]);
      if (id) make_control(*id);
    }
  };
  resolve(ids.eot, kEndOfTurn);
  resolve(ids.eom, kEndOfMessage);
  resolve(ids.fim_prefix, kFimPrefix);
  resolve(ids.fim_suffix, kFimSuffix);
  resolve(ids.fim_middle, kFimMiddle);
  resolve(ids.fim_padding, kFimPadding);
  resolve(ids.fim_repository, kFimRepository);
  resolve(ids.fim_separator, kFimSeparator);

  std::vector<TokenId> ends;
  for (const auto& id : {ids.eos, ids.eot, ids.eom, ids.fim_padding, ids.fim_repository, ids.fim_separator}) {
    if (id) ends.push_back(*id);
  }
  for (std::string_view text : kEndOfGeneration) {
    if (auto id = map.find(text)) ends.push_back(*id), make_control(*id);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

SpecialTokenFinder::SpecialTokenFinder(const Vocabulary& vocabulary, Which which) {
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const TokenType type = vocabulary.type(TokenId(id));
    const bool wanted = type == TokenType::user_defined ||
                        (which == Which::all && (type == TokenType::control || type == TokenType::unknown));
    if (wanted && !vocabulary.tokens[id].empty()) entries_.push_back({vocabulary.tokens[id], TokenId(id), kNone});
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.text != b.text ? a.text < b.text : a.id < b.id; });
  entries_.erase(
      std::unique(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.text == b.text; }),
      entries_.end());
  for (const Entry& entry : entries_) ++first_byte_[uint8_t(entry.text[0]) + 1u];
  for (size_t byte = 0; byte < 256; ++byte) first_byte_[byte + 1] += first_byte_[byte];
  // In sorted order the prefixes of an entry are the open ones of a stack.
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    while (!open.empty() && !entries_[i].text.starts_with(entries_[open.back()].text)) open.pop_back();
    entries_[i].prefix = open.empty() ? kNone : open.back();
    open.push_back(i);
    longest_ = std::max(longest_, entries_[i].text.size());
  }
}

// The longest entry that the text has at `start`: walks the sorted entries like a trie.
uint32_t SpecialTokenFinder::longest_at(std::string_view text, size_t start) const {
  uint32_t low = first_byte_[uint8_t(text[start])], high = first_byte_[uint8_t(text[start]) + 1u], found = kNone;
  for (size_t depth = 1; low < high; ++depth) {
    // All entries in [low, high) begin with the text's `depth` bytes; the shortest of them comes first.
    if (entries_[low].text.size() == depth) found = low++;
    if (start + depth == text.size()) break;
    const uint8_t byte = uint8_t(text[start + depth]);
    const auto begin = entries_.begin();
    low = uint32_t(
        std::partition_point(begin + low, begin + high, [&](const Entry& e) { return uint8_t(e.text[depth]) < byte; }) -
        begin);
    high = uint32_t(std::partition_point(begin + low, begin + high,
                                         [&](const Entry& e) { return uint8_t(e.text[depth]) == byte; }) -
                    begin);
  }
  return found;
}

std::vector<Fragment> SpecialTokenFinder::partition(std::string_view text) const {
  if (text.empty()) return {};
  struct Match {
    uint32_t start, entry;
  };
  // By length: a place waits among those of its longest entry, and goes on to the next shorter one if that does not
  // fit.
  const size_t longest = std::min(longest_, text.size());
  std::vector<std::vector<Match>> waiting(longest + 1);
  for (size_t start = 0; start < text.size(); ++start) {
    const uint32_t entry = longest_at(text, start);
    if (entry != kNone) waiting[entries_[entry].text.size()].push_back({uint32_t(start), entry});
  }
  std::vector<Match> matches;
  std::vector<bool> covered(text.size());
  for (size_t size = longest; size > 0; --size) {
    std::sort(waiting[size].begin(), waiting[size].end(), [&](const Match& a, const Match& b) {
      return a.entry != b.entry ? entries_[a.entry].id < entries_[b.entry].id : a.start < b.start;
    });
    for (const Match& match : waiting[size]) {
      if (covered[match.start]) continue;
      // What covers is no shorter, so it would also cover the last byte.
      if (covered[match.start + size - 1]) {
        const uint32_t shorter = entries_[match.entry].prefix;
        if (shorter != kNone) waiting[entries_[shorter].text.size()].push_back({match.start, shorter});
        continue;
      }
      matches.push_back(match);
      std::fill_n(covered.begin() + ptrdiff_t(match.start), size, true);
    }
  }
  std::sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) { return a.start < b.start; });

  std::vector<Fragment> fragments;
  size_t done = 0;
  for (const Match& match : matches) {
    const Entry& entry = entries_[match.entry];
    if (match.start > done) fragments.push_back({text.substr(done, match.start - done), -1});
    fragments.push_back({text.substr(match.start, entry.text.size()), entry.id});
    done = match.start + entry.text.size();
  }
  if (done < text.size()) fragments.push_back({text.substr(done), -1});
  return fragments;
}

}  // namespace soffit::text
