// The regular expressions behind tokenizer.ggml.pre. Source: the models' published tokenizer.json files, in the form
// that llama.cpp runs; tests compare with its ids.
#include <array>

#include "core/concat.hpp"
#include "core/escape.hpp"
#include "text/pretokenizer.hpp"

namespace soffit::text {
namespace {

// Unicode White_Space, spelled out: PCRE2's \s also takes U+180E, and only ASCII without PCRE2_UCP.
#define WHITE \
  "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
// A run of white space leaves its last character to the word that follows; the rest of a piece is taken whole.
#define TAIL "[" WHITE "]+(?![^" WHITE "])|[" WHITE "]+"
#define CONTRACTION "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])"
#define NEWLINES "[" WHITE "]*[\\r\\n]+"

constexpr const char* kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" WHITE "\\p{L}\\p{N}]+|" TAIL;
constexpr const char* kLlama3 =
    CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^" WHITE "\\p{L}\\p{N}]+[\\r\\n]*|" NEWLINES "|" TAIL;
constexpr const char* kQwen2 =
    CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^" WHITE "\\p{L}\\p{N}]+[\\r\\n]*|" NEWLINES "|" TAIL;
// Combining marks belong to words.
constexpr const char* kQwen35 = CONTRACTION "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^" WHITE
                                            "\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" NEWLINES "|" TAIL;
constexpr const char* kPunctuation = "[\\p{P}\\$\\+<=>\\^~\\|]+";

#undef WHITE
#undef TAIL
#undef CONTRACTION
#undef NEWLINES

const std::vector<PretokenizerFamily>& families() {
  static const std::vector<PretokenizerFamily> list = {
      {{"default"}, {kPunctuation, kGpt2, "\\p{N}+", "[0-9][0-9][0-9]"}, false, false},
      {{"gpt-2", "phi-2", "olmo", "mpt"}, {kGpt2}, false, false},
      {{"smollm"}, {"\\p{N}", kGpt2}, false, false},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
       {kLlama3},
       true,
       true},
      {{"smaug-bpe", "dbrx"}, {kLlama3}, false, false},
      {{"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez"}, {kQwen2}, false, false},
      {{"qwen35"}, {kQwen35}, false, false},
  };
  return list;
}

}  // namespace

Result<const PretokenizerFamily*> find_pretokenizer_family(std::string_view name) {
  if (name.empty()) name = "default";
  std::string known;
  for (const PretokenizerFamily& family : families()) {
    for (std::string_view candidate : family.names) {
      if (candidate == name) return &family;
      known.append(known.empty() ? "" : ", ").append(candidate);
    }
  }
  return unsupported(concat("tokenizer.ggml.pre is \"", escaped(name, 80), "\"; supported are ", known));
}

}  // namespace soffit::text
