#include "text/tokenizer.hpp"

#include <algorithm>
#include <cmath>

#include "text/byte_alphabet.hpp"
#include "text/pretokenizer.hpp"

namespace soffit::text {
namespace {

// The byte of a token named <0xHH>.
std::optional<char> byte_of_name(std::string_view name) {
  if (name.size() != 6 || name.substr(0, 3) != "<0x" || name[5] != '>') return std::nullopt;
  int value = 0;
  for (char digit : name.substr(3, 2)) {
    const int v = digit >= '0' && digit <= '9'   ? digit - '0'
                  : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                  : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                                 : -1;
    if (v < 0) return std::nullopt;
    value = value * 16 + v;
  }
  return char(value);
}

void append_sentencepiece(std::string& out, std::string_view token) {
  for (size_t offset = 0; offset < token.size();) {
    if (token.substr(offset, kSpaceMark.size()) == kSpaceMark) {
      out.push_back(' ');
      offset += kSpaceMark.size();
    } else {
      out.push_back(token[offset++]);
    }
  }
}

// The public struct can be written by hand, so its arrays are checked here whoever filled them.
Status check(const Vocabulary& v) {
  const std::string tokens = std::to_string(v.size());
  if (v.tokens.empty()) return invalid_file("tokenizer.ggml.tokens is empty");
  if (v.size() > INT32_MAX / 2) return invalid_file("tokenizer.ggml.tokens has " + tokens + " entries; too many");
  if (!v.types.empty() && v.types.size() != v.size()) {
    return invalid_file("tokenizer.ggml.token_type has " + std::to_string(v.types.size()) + " entries for " + tokens +
                        " tokens");
  }
  if (!v.scores.empty() && v.scores.size() != v.size()) {
    return invalid_file("tokenizer.ggml.scores has " + std::to_string(v.scores.size()) + " entries for " + tokens +
                        " tokens");
  }
  for (size_t id = 0; id < v.scores.size(); ++id) {
    if (std::isnan(v.scores[id])) return invalid_file("tokenizer.ggml.scores[" + std::to_string(id) + "] is NaN");
  }
  if (v.merges.size() > INT32_MAX / 2) {
    return invalid_file("tokenizer.ggml.merges has " + std::to_string(v.merges.size()) + " entries; too many");
  }
  const SpecialIds& s = v.ids;
  for (const auto& id : {s.bos, s.eos, s.eot, s.eom, s.unknown, s.separator, s.padding, s.mask, s.fim_prefix,
                         s.fim_suffix, s.fim_middle, s.fim_padding, s.fim_repository, s.fim_separator}) {
    if (id && (*id < 0 || size_t(*id) >= v.size())) {
      return invalid_file("special token id " + std::to_string(*id) + " is outside the vocabulary of " + tokens +
                          " tokens");
    }
  }
  return {};
}

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)), map_(vocabulary_.tokens) {}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::create(Vocabulary vocabulary) {
  SOFFIT_CHECK(check(vocabulary));
  std::shared_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(vocabulary)));
  SOFFIT_CHECK(tokenizer->prepare());
  return std::shared_ptr<const Tokenizer>(std::move(tokenizer));
}

Status Tokenizer::prepare() {
  ends_ = resolve_special_tokens(vocabulary_, map_);
  if (vocabulary_.algorithm == Algorithm::sentencepiece) {
    add_bos_ = vocabulary_.add_bos.value_or(true);
    add_space_prefix_ = vocabulary_.add_space_prefix.value_or(true);
    SOFFIT_TRY(segmenter_, make_sentencepiece(vocabulary_, map_, add_space_prefix_));
  } else {
    SOFFIT_TRY(const PretokenizerFamily* family, find_pretokenizer_family(vocabulary_.pre));
    add_bos_ = vocabulary_.add_bos.value_or(family->adds_bos);
    SOFFIT_TRY(segmenter_, make_bpe(vocabulary_, map_));
  }
  add_eos_ = vocabulary_.add_eos.value_or(false);
  if (add_bos_ && !bos()) return invalid_file("the tokenizer adds a BOS token, but no bos_token_id is given");
  if (add_eos_ && !eos()) return invalid_file("the tokenizer adds an EOS token, but no eos_token_id is given");
  user_defined_ = std::make_unique<SpecialTokenFinder>(vocabulary_, SpecialTokenFinder::Which::user_defined);
  all_special_ = std::make_unique<SpecialTokenFinder>(vocabulary_, SpecialTokenFinder::Which::all);
  make_pieces();
  return {};
}

void Tokenizer::make_pieces() {
  piece_starts_.reserve(vocabulary_.size() + 1);
  for (size_t id = 0; id < vocabulary_.size(); ++id) {
    piece_starts_.push_back(piece_bytes_.size());
    const std::string& token = vocabulary_.tokens[id];
    const TokenType type = vocabulary_.type(TokenId(id));
    const std::optional<char> byte = type == TokenType::byte ? byte_of_name(token) : std::nullopt;
    if (byte) {
      piece_bytes_.push_back(*byte);
    } else if (type == TokenType::control || type == TokenType::unknown || type == TokenType::user_defined) {
      piece_bytes_.append(token);
    } else if (vocabulary_.algorithm == Algorithm::sentencepiece) {
      append_sentencepiece(piece_bytes_, token);
    } else {
      // A token with letters outside the byte alphabet stands for itself.
      piece_bytes_.append(from_byte_alphabet(token).value_or(token));
    }
  }
  piece_starts_.push_back(piece_bytes_.size());
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text, EncodeOptions options, EncodeLoss* loss) const {
  if (text.size() > INT32_MAX) {
    return invalid_argument("a text of " + std::to_string(text.size()) +
                            " bytes is too long to tokenise; the limit is " + std::to_string(INT32_MAX));
  }
  EncodeLoss own_loss;
  if (!loss) loss = &own_loss;
  std::vector<TokenId> ids;
  if (options.add_special && add_bos_) ids.push_back(*bos());
  bool after_special = true;
  for (const Fragment& fragment : (options.parse_special ? all_special_ : user_defined_)->partition(text)) {
    if (fragment.token >= 0) {
      ids.push_back(fragment.token);
    } else {
      SOFFIT_CHECK(segmenter_->encode(fragment.text, after_special, ids, *loss));
    }
    after_special = fragment.token >= 0;
  }
  if (options.add_special && add_eos_) ids.push_back(*eos());
  return ids;
}

Result<std::string_view> Tokenizer::piece(TokenId id) const {
  if (id < 0 || size_t(id) >= vocabulary_.size()) {
    return invalid_argument("token id " + std::to_string(id) + " is outside the vocabulary of " +
                            std::to_string(vocabulary_.size()) + " tokens");
  }
  const uint64_t start = piece_starts_[size_t(id)];
  return std::string_view(piece_bytes_).substr(start, piece_starts_[size_t(id) + 1] - start);
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  std::string out;
  bool at_start = add_space_prefix_;
  for (TokenId id : ids) {
    SOFFIT_TRY(std::string_view piece, this->piece(id));
    if (is_control(id)) {
      if (!options.skip_special) out.append(piece);
      continue;
    }
    if (at_start && piece.substr(0, 1) == " ") piece.remove_prefix(1);
    at_start = false;
    out.append(piece);
  }
  return out;
}

bool Tokenizer::is_control(TokenId id) const {
  const TokenType type = vocabulary_.type(id);
  return type == TokenType::control || type == TokenType::unknown;
}

bool Tokenizer::is_end_of_generation(TokenId id) const { return std::binary_search(ends_.begin(), ends_.end(), id); }

Result<std::string> TokenStream::push(TokenId id) {
  SOFFIT_TRY(const std::string_view piece, tokenizer_.piece(id));
  if (options_.skip_special && tokenizer_.is_control(id)) return std::string();
  return decoder_.push(piece);
}

}  // namespace soffit::text
