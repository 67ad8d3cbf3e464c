// Cuts text into the words that byte-level BPE merges within. Runs a family's regular expressions with PCRE2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::text {

// What goes with a name in tokenizer.ggml.pre.
struct PretokenizerFamily {
  std::vector<std::string_view> names;  // names that mean the same; the first is the family's
  std::vector<std::string> patterns;    // each cuts the pieces that the one before left
  bool ignore_merges = false;           // a whole word that is a token is taken without merging
  bool adds_bos = false;                // unless the file says otherwise
};

// The family of a name ("" is "default"), or an error that lists the names.
Result<const PretokenizerFamily*> find_pretokenizer_family(std::string_view name);

class Pretokenizer {
 public:
  static Result<Pretokenizer> create(const PretokenizerFamily& family);
  Pretokenizer(Pretokenizer&&) noexcept;
  Pretokenizer& operator=(Pretokenizer&&) noexcept;
  ~Pretokenizer();

  // The lengths in bytes of the pieces of `text`, in order: their sum is the text's size, none is zero. The text
  // must be what sanitize() returns. Safe to call from several threads.
  Result<std::vector<uint32_t>> split(std::string_view text) const;

 private:
  struct Pattern;
  Pretokenizer();
  std::vector<std::unique_ptr<Pattern>> patterns_;
};

struct SanitizedText {
  std::string text;
  size_t replaced_bytes = 0;
};

// Text as byte-level BPE reads it: every invalid byte is U+FFFD, overlong forms are spelled the short way, and
// surrogates stay as three bytes, as in llama.cpp.
SanitizedText sanitize(std::string_view text);

}  // namespace soffit::text
