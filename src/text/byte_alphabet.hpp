// The alphabet of byte-level BPE: every byte is one printable code point.
// Source: GPT-2. 0x21–0x7E, 0xA1–0xAC and 0xAE–0xFF stand for themselves; the other 68 bytes, in increasing order,
// are U+0100, U+0101, …: a space is U+0120, Ġ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace soffit::text {

constexpr bool byte_stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<uint16_t, 256> make_byte_alphabet() {
  std::array<uint16_t, 256> code_points{};
  uint16_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    code_points[byte] = byte_stands_for_itself(byte) ? uint16_t(byte) : next++;
  }
  return code_points;
}

inline constexpr std::array<uint16_t, 256> kByteAlphabet = make_byte_alphabet();
static_assert(kByteAlphabet[' '] == 0x120 && kByteAlphabet[0xAD] == 0x143);

std::string to_byte_alphabet(std::string_view bytes);

// The bytes that a token of the alphabet spells; nullopt if it has a code point outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view token);

}  // namespace soffit::text
