#include "core/escape.hpp"

#include <cstdint>

namespace soffit {

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return uint8_t(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; i++) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies above U+10FFFF are told by the second byte.
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

std::string escaped(std::string_view text, size_t max_bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    if (i + (length ? length : 1) > max_bytes) return result + "…";
    const uint8_t first = uint8_t(text[i]);
    const bool c1 = length == 2 && first == 0xc2 && uint8_t(text[i + 1]) < 0xa0;
    if (length > 0 && first >= 0x20 && first != 0x7f && !c1) {
      result += text.substr(i, length);
      i += length;
      continue;
    }
    for (size_t end = i + (length ? length : 1); i < end; i++) {
      const uint8_t byte = uint8_t(text[i]);
      if (byte == '\n') {
        result += "\\n";
      } else if (byte == '\r') {
        result += "\\r";
      } else if (byte == '\t') {
        result += "\\t";
      } else {
        result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      }
    }
  }
  return result;
}

}  // namespace soffit
