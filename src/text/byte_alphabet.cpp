#include "text/byte_alphabet.hpp"

#include "text/utf8.hpp"

namespace soffit::text {
namespace {

constexpr uint32_t kLetters = 0x144;  // one above the largest code point of the alphabet
constexpr uint16_t kNoByte = 0xFFFF;

constexpr std::array<uint16_t, kLetters> make_inverse() {
  std::array<uint16_t, kLetters> bytes{};
  for (auto& byte : bytes) byte = kNoByte;
  for (uint16_t byte = 0; byte < 256; ++byte) bytes[kByteAlphabet[byte]] = byte;
  return bytes;
}

constexpr std::array<uint16_t, kLetters> kInverse = make_inverse();

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char byte : bytes) append_utf8(out, kByteAlphabet[uint8_t(byte)]);
  return out;
}

std::optional<std::string> from_byte_alphabet(std::string_view token) {
  std::string out;
  for (size_t offset = 0; offset < token.size();) {
    const DecodedCodePoint letter = decode_lenient(token, offset);
    if (!letter.valid || letter.value >= kLetters || kInverse[letter.value] == kNoByte) return std::nullopt;
    out.push_back(char(kInverse[letter.value]));
    offset += letter.length;
  }
  return out;
}

}  // namespace soffit::text
