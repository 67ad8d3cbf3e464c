#include "text/utf8.hpp"

namespace soffit::text {

DecodedCodePoint decode_lenient(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) { return uint32_t(uint8_t(text[offset + i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const uint32_t length = lead >= 0xF8 ? 0 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
  if (length == 0 || text.size() - offset < length) return {};
  uint32_t value = lead & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  if (value > 0x10FFFF) return {};
  return {value, length, true};
}

void append_utf8(std::string& out, uint32_t value) {
  const auto tail = [&](int shift) { out.push_back(char(0x80 | (value >> shift & 0x3F))); };
  if (value < 0x80) {
    out.push_back(char(value));
  } else if (value < 0x800) {
    out.push_back(char(0xC0 | value >> 6)), tail(0);
  } else if (value < 0x10000) {
    out.push_back(char(0xE0 | value >> 12)), tail(6), tail(0);
  } else {
    out.push_back(char(0xF0 | value >> 18)), tail(12), tail(6), tail(0);
  }
}

Sequence classify_sequence(std::string_view text, size_t offset) {
  const uint8_t lead = uint8_t(text[offset]);
  if (lead < 0x80) return {SequenceState::valid, 1};
  if (lead < 0xC2 || lead > 0xF4) return {SequenceState::invalid, 1};
  const uint32_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and values above U+10FFFF.
  uint8_t low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (uint32_t i = 1; i < length; ++i) {
    if (offset + i == text.size()) return {SequenceState::incomplete, i};
    const uint8_t byte = uint8_t(text[offset + i]);
    if (byte < low || byte > high) return {SequenceState::invalid, i};
    low = 0x80, high = 0xBF;
  }
  return {SequenceState::valid, length};
}

std::string replace_invalid(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    const Sequence sequence = classify_sequence(text, offset);
    if (sequence.state == SequenceState::valid) {
      out.append(text.substr(offset, sequence.length));
    } else {
      append_utf8(out, kReplacementCharacter);
    }
    offset += sequence.length;
  }
  return out;
}

}  // namespace soffit::text
