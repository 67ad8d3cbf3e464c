#include "text/utf8.hpp"

#include <gtest/gtest.h>

#include "text/byte_alphabet.hpp"
#include "text/stream_decoder.hpp"

namespace soffit::text {
namespace {

TEST(Utf8, EveryCodePointIsValidInBothDecoders) {
  for (uint32_t value = 0; value <= 0x10FFFF; ++value) {
    std::string bytes;
    append_utf8(bytes, value);
    const DecodedCodePoint point = decode_lenient(bytes, 0);
    ASSERT_TRUE(point.valid && point.value == value && point.length == bytes.size()) << value;
    const bool surrogate = value >= 0xD800 && value < 0xE000;
    const Sequence sequence = classify_sequence(bytes, 0);
    ASSERT_EQ(sequence.state == SequenceState::valid, !surrogate) << value;
    if (surrogate) continue;
    ASSERT_EQ(sequence.length, bytes.size());
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      const Sequence part = classify_sequence(std::string_view(bytes).substr(0, cut), 0);
      ASSERT_EQ(part.state, SequenceState::incomplete) << value;
      ASSERT_EQ(part.length, cut);
    }
  }
}

TEST(Utf8, FaultsAreMaximalSubparts) {
  // The example of the Unicode standard, section 3.9.
  EXPECT_EQ(replace_invalid("a\xF1\x80\x80\xE1\x80\xC2"
                            "b\x80"
                            "c\x80\xBF"
                            "d"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(replace_invalid("\xC0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(ByteAlphabet, IsABijection) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(char(byte));
  EXPECT_EQ(from_byte_alphabet(to_byte_alphabet(all)), all);
  EXPECT_EQ(to_byte_alphabet(" \n\t"), "ĠĊĉ");
  EXPECT_EQ(from_byte_alphabet("\u0144"), std::nullopt);
  EXPECT_EQ(from_byte_alphabet(" "), std::nullopt);
  EXPECT_EQ(from_byte_alphabet("\xFF"), std::nullopt);
}

TEST(StreamDecoder, HoldsBackWhatIsNotWhole) {
  StreamDecoder decoder;
  EXPECT_EQ(decoder.push("a\xF0\x9F"), "a");
  EXPECT_EQ(decoder.pending().size(), 2u);
  EXPECT_EQ(decoder.push("\x98"), "");
  EXPECT_EQ(decoder.push("\x80z"), "😀z");
  EXPECT_EQ(decoder.push("\xE2\x82"), "");
  EXPECT_EQ(decoder.push("x"), "\uFFFDx");
  EXPECT_EQ(decoder.push("\xE2\x82"), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
  EXPECT_EQ(decoder.finish(), "");
  EXPECT_EQ(decoder.push("\x80\xFF"), "\uFFFD\uFFFD");
}

// Every sequence of up to four bytes from a set that holds each kind, cut at every place.
TEST(StreamDecoder, AnyCutGivesTheWhole) {
  const unsigned char kinds[] = {'a',  0x80, 0x90, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0,
                                 0xE2, 0xED, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
  const size_t n = sizeof kinds;
  for (size_t code = 0; code < n * n * n * n; ++code) {
    std::string text;
    for (size_t rest = code, i = 0; i < 4; ++i, rest /= n) text.push_back(char(kinds[rest % n]));
    StreamDecoder by_byte;
    std::string out;
    for (char byte : text) {
      out += by_byte.push({&byte, 1});
      ASSERT_LE(by_byte.pending().size(), 3u);
    }
    out += by_byte.finish();
    ASSERT_EQ(out, replace_invalid(text)) << code;
    StreamDecoder in_two;
    std::string halves = in_two.push(std::string_view(text).substr(0, 2));
    halves += in_two.push(std::string_view(text).substr(2));
    ASSERT_EQ(halves + in_two.finish(), out) << code;
  }
}

}  // namespace
}  // namespace soffit::text
