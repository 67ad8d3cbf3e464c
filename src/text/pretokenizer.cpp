#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pretokenizer.hpp"

#include <pcre2.h>

#include <algorithm>

#include "text/unicode_additions.hpp"
#include "text/utf8.hpp"

namespace soffit::text {
namespace {

template <auto release>
struct Releaser {
  template <class T>
  void operator()(T* pointer) const {
    release(pointer);
  }
};
using CompiledPattern = std::unique_ptr<pcre2_code, Releaser<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Releaser<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Releaser<pcre2_match_context_free>>;

// PCRE2's own words for an error.
std::string describe(int error) {
  PCRE2_UCHAR buffer[160];
  if (pcre2_get_error_message(error, buffer, sizeof buffer) < 0) return "error " + std::to_string(error);
  return reinterpret_cast<const char*>(buffer);
}

// The text that the expressions see: same offsets, but code points that PCRE2 knows differently from llama.cpp
// (surrogates, which are no valid UTF-8; code points newer than its tables) stand as one of the same class and size.
std::string class_text(std::string_view text) {
  std::string out(text);
  for (size_t offset = 0; offset < text.size();) {
    if (uint8_t(text[offset]) < 0x80) {
      ++offset;
      continue;
    }
    const DecodedCodePoint point = decode_lenient(text, offset);
    if (const uint32_t stand_in = class_stand_in(point.value)) {
      std::string bytes;
      append_utf8(bytes, stand_in);
      out.replace(offset, point.length, bytes);
    }
    offset += point.length;
  }
  return out;
}

}  // namespace

struct Pretokenizer::Pattern {
  CompiledPattern code;
  bool jit = false;
};

Pretokenizer::Pretokenizer() = default;
Pretokenizer::Pretokenizer(Pretokenizer&&) noexcept = default;
Pretokenizer& Pretokenizer::operator=(Pretokenizer&&) noexcept = default;
Pretokenizer::~Pretokenizer() = default;

Result<Pretokenizer> Pretokenizer::create(const PretokenizerFamily& family) {
  Pretokenizer out;
  for (const std::string& pattern : family.patterns) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    auto compiled = std::make_unique<Pattern>();
    compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error,
                                       &offset, nullptr));
    if (!compiled->code) {
      return Error{Code::internal, "pre-tokeniser " + std::string(family.names.front()) + ": " + describe(error) +
                                       " at offset " + std::to_string(offset) + " of " + pattern};
    }
    // Without JIT (a system that forbids executable memory) the interpreter finds the same matches.
    compiled->jit = pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE) == 0;
    out.patterns_.push_back(std::move(compiled));
  }
  return out;
}

Result<std::vector<uint32_t>> Pretokenizer::split(std::string_view text) const {
  if (text.size() > INT32_MAX) {
    return invalid_argument("a text of " + std::to_string(text.size()) +
                            " bytes is too long to tokenise; the limit is " + std::to_string(INT32_MAX));
  }
  const std::string subject = class_text(text);
  MatchContext context(pcre2_match_context_create(nullptr));
  MatchData match(pcre2_match_data_create(1, nullptr));
  if (!context || !match) return Error{Code::out_of_memory, "no memory for a regular expression's match"};

  std::vector<uint32_t> pieces, cut;
  if (!text.empty()) pieces.push_back(uint32_t(text.size()));
  for (const auto& pattern : patterns_) {
    cut.clear();
    size_t start = 0;
    for (uint32_t size : pieces) {
      // Every pattern backtracks at most once over a run; the limit only keeps a fault from hanging.
      pcre2_set_match_limit(context.get(),
                            size < 1000 ? 100000 : uint32_t(std::min<uint64_t>(100ull * size, UINT32_MAX)));
      const auto* piece = reinterpret_cast<PCRE2_SPTR>(subject.data() + start);
      size_t done = 0;
      while (done < size) {
        const auto run = [&](uint32_t options) {
          return pcre2_match(pattern->code.get(), piece, size, done, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | options,
                             match.get(), context.get());
        };
        int result = run(0);
        if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = run(PCRE2_NO_JIT);
        if (result == PCRE2_ERROR_NOMATCH) break;
        if (result < 0) {
          return Error{Code::internal,
                       "pre-tokeniser: " + describe(result) + " in a piece of " + std::to_string(size) + " bytes"};
        }
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
        if (ends[0] > done) cut.push_back(uint32_t(ends[0] - done));
        cut.push_back(uint32_t(ends[1] - ends[0]));
        done = ends[1];
      }
      if (done < size) cut.push_back(uint32_t(size - done));
      start += size;
    }
    pieces.swap(cut);
  }
  return pieces;
}

SanitizedText sanitize(std::string_view text) {
  SanitizedText out;
  out.text.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    const DecodedCodePoint point = decode_lenient(text, offset);
    append_utf8(out.text, point.value);
    if (!point.valid) ++out.replaced_bytes;
    offset += point.length;
  }
  return out;
}

}  // namespace soffit::text
