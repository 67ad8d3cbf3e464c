// UTF-8: a lenient decoder that agrees with llama.cpp on broken text, and a strict one for what is shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace soffit::text {

constexpr uint32_t kReplacementCharacter = 0xFFFD;

struct DecodedCodePoint {
  uint32_t value = kReplacementCharacter;
  uint32_t length = 1;  // bytes taken; 1 when not valid
  bool valid = false;
};

// Takes overlong forms and surrogates as what they spell, as llama.cpp's tokenizer does; any other fault is one
// invalid byte. `offset` is less than the text's size. A value above U+10FFFF counts as invalid.
DecodedCodePoint decode_lenient(std::string_view text, size_t offset);

// `value` is at most 0x10FFFF; surrogates are written as three bytes.
void append_utf8(std::string& out, uint32_t value);

enum class SequenceState { valid, invalid, incomplete };

struct Sequence {
  SequenceState state;
  uint32_t length;  // of the code point, of the faulty bytes (a maximal subpart), or of the rest of the text
};

// By the table of well-formed sequences (Unicode, table 3-7). `incomplete` only at the end of the text: more bytes
// could make it valid.
Sequence classify_sequence(std::string_view text, size_t offset);

// Each maximal faulty part becomes one U+FFFD.
std::string replace_invalid(std::string_view text);

}  // namespace soffit::text
