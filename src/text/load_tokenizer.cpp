#include "text/load_tokenizer.hpp"

#include "core/escape.hpp"

namespace soffit::text {
namespace {

constexpr std::string_view kPrefix = "tokenizer.ggml.";

std::string key_name(std::string_view name) { return std::string(kPrefix).append(name); }

Error in_key(const Error& error, const std::string& key) { return {error.code, key + ": " + error.message}; }

Error wrong_length(const std::string& key, size_t have, size_t tokens) {
  return invalid_file(key + " has " + std::to_string(have) + " entries, but tokenizer.ggml.tokens has " +
                      std::to_string(tokens));
}

Status read_strings(const gguf::File& file, std::string_view name, bool required, std::vector<std::string>& out) {
  const std::string key = key_name(name);
  const gguf::Value* value = file.find(key);
  if (!value) {
    if (required) return invalid_file(key + " is missing");
    return {};
  }
  auto strings = value->as_strings();
  if (!strings) return in_key(strings.error(), key);
  out.assign(strings->begin(), strings->end());
  return {};
}

Status read_scores(const gguf::File& file, Vocabulary& vocabulary) {
  const std::string key = key_name("scores");
  const gguf::Value* value = file.find(key);
  if (!value) return {};
  auto scores = value->as_numbers();
  if (!scores) return in_key(scores.error(), key);
  if (scores->size() != vocabulary.size()) return wrong_length(key, scores->size(), vocabulary.size());
  vocabulary.scores = *std::move(scores);
  return {};
}

Status read_types(const gguf::File& file, Vocabulary& vocabulary) {
  const std::string key = key_name("token_type");
  const gguf::Value* value = file.find(key);
  if (!value) return {};
  auto types = value->as_integers();
  if (!types) return in_key(types.error(), key);
  if (types->size() != vocabulary.size()) return wrong_length(key, types->size(), vocabulary.size());
  vocabulary.types.reserve(types->size());
  for (int64_t type : *types) {
    vocabulary.types.push_back(type >= 0 && type <= 6 ? TokenType(type) : TokenType::undefined);
  }
  return {};
}

// An id out of range is left out of account with a warning, as llama.cpp does: real files have such.
Status read_id(const gguf::File& file, std::string_view name, Vocabulary& vocabulary, std::optional<TokenId>& id) {
  const auto size = int64_t(vocabulary.size());
  if (id && *id >= size) id.reset();
  const std::string key = key_name(name);
  const gguf::Value* value = file.find(key);
  if (!value) return {};
  auto number = value->as_integer();
  if (!number) return in_key(number.error(), key);
  if (*number < 0 || *number >= size) {
    vocabulary.warnings.push_back(key + " is " + std::to_string(*number) + ", but the vocabulary has " +
                                  std::to_string(size) + " tokens; ignored");
    return {};
  }
  id = TokenId(*number);
  return {};
}

Status read_flag(const gguf::File& file, std::string_view name, std::optional<bool>& flag) {
  const std::string key = key_name(name);
  const gguf::Value* value = file.find(key);
  if (!value) return {};
  auto boolean = value->as_boolean();
  if (!boolean) return in_key(boolean.error(), key);
  flag = *boolean;
  return {};
}

Status read_ids(const gguf::File& file, Vocabulary& vocabulary) {
  SpecialIds& ids = vocabulary.ids;
  if (vocabulary.algorithm == Algorithm::sentencepiece) {
    ids.bos = 1, ids.eos = 2, ids.unknown = 0;
  } else {
    ids.bos = 11, ids.eos = 11;
  }
  // The last three are older names of the three before.
  const std::pair<std::string_view, std::optional<TokenId>*> keys[] = {
      {"bos_token_id", &ids.bos},
      {"eos_token_id", &ids.eos},
      {"eot_token_id", &ids.eot},
      {"eom_token_id", &ids.eom},
      {"unknown_token_id", &ids.unknown},
      {"seperator_token_id", &ids.separator},
      {"padding_token_id", &ids.padding},
      {"mask_token_id", &ids.mask},
      {"fim_pad_token_id", &ids.fim_padding},
      {"fim_rep_token_id", &ids.fim_repository},
      {"fim_sep_token_id", &ids.fim_separator},
      {"fim_pre_token_id", &ids.fim_prefix},
      {"fim_suf_token_id", &ids.fim_suffix},
      {"fim_mid_token_id", &ids.fim_middle},
      {"prefix_token_id", &ids.fim_prefix},
      {"suffix_token_id", &ids.fim_suffix},
      {"middle_token_id", &ids.fim_middle},
  };
  for (const auto& [name, id] : keys) SOFFIT_CHECK(read_id(file, name, vocabulary, *id));
  return {};
}

}  // namespace

Result<Vocabulary> load_vocabulary(const gguf::File& file) {
  Vocabulary vocabulary;
  const std::string model_key = key_name("model"), pre_key = key_name("pre");
  const gguf::Value* model = file.find(model_key);
  if (!model) return invalid_file(model_key + " is missing: the file has no tokenizer");
  auto model_name = model->as_string();
  if (!model_name) return in_key(model_name.error(), model_key);
  if (*model_name == "gpt2") {
    vocabulary.algorithm = Algorithm::byte_level_bpe;
  } else if (*model_name == "llama") {
    vocabulary.algorithm = Algorithm::sentencepiece;
  } else {
    return unsupported(model_key + " is \"" + escaped(*model_name, 80) +
                       "\"; supported are \"gpt2\" (byte-level BPE) and \"llama\" (SentencePiece)");
  }
  if (const gguf::Value* pre = file.find(pre_key)) {
    auto name = pre->as_string();
    if (!name) return in_key(name.error(), pre_key);
    vocabulary.pre = std::string(*name);
  }
  SOFFIT_CHECK(read_strings(file, "tokens", true, vocabulary.tokens));
  SOFFIT_CHECK(read_scores(file, vocabulary));
  SOFFIT_CHECK(read_types(file, vocabulary));
  if (vocabulary.algorithm == Algorithm::byte_level_bpe) {
    SOFFIT_CHECK(read_strings(file, "merges", true, vocabulary.merges));
  }
  SOFFIT_CHECK(read_ids(file, vocabulary));
  SOFFIT_CHECK(read_flag(file, "add_bos_token", vocabulary.add_bos));
  SOFFIT_CHECK(read_flag(file, "add_eos_token", vocabulary.add_eos));
  SOFFIT_CHECK(read_flag(file, "add_space_prefix", vocabulary.add_space_prefix));
  if (const gguf::Value* chat_template = file.find("tokenizer.chat_template")) {
    auto text = chat_template->as_string();
    if (!text) return in_key(text.error(), "tokenizer.chat_template");
    vocabulary.chat_template = std::string(*text);
  }
  return vocabulary;
}

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const gguf::File& file) {
  SOFFIT_TRY(Vocabulary vocabulary, load_vocabulary(file));
  return Tokenizer::create(std::move(vocabulary));
}

}  // namespace soffit::text
