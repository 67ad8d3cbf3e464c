#include "core/escape.hpp"

#include <gtest/gtest.h>

namespace soffit {
namespace {

TEST(Utf8Length, WellFormed) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\u00e9"), 2u);
  EXPECT_EQ(utf8_length("\u20ac!"), 3u);
  EXPECT_EQ(utf8_length("\U0001f600"), 4u);
  EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4u);  // U+10FFFF
}

TEST(Utf8Length, IllFormed) {
  for (const char* text : {"", "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xe2(\xa1"}) {
    EXPECT_EQ(utf8_length(text), 0u) << escaped(text);
  }
}

TEST(Escaped, KeepsTextAndNamesTheRest) {
  EXPECT_EQ(escaped("plain \u00e9\u20ac\U0001f600"), "plain \u00e9\u20ac\U0001f600");
  EXPECT_EQ(escaped("a\nb\tc\r\x1b[0m\x7f"), "a\\nb\\tc\\r\\x1b[0m\\x7f");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "31m"),
            "\\xc2\\x9b31m");  // a C1 control starts an escape sequence too
  EXPECT_EQ(escaped(std::string_view("\0\xff", 2)), "\\x00\\xff");
}

TEST(Escaped, CutsBetweenCharacters) {
  EXPECT_EQ(escaped("abcd", 4), "abcd");
  EXPECT_EQ(escaped("abcde", 4), "abcd…");
  EXPECT_EQ(escaped("abc\u20ac", 4), "abc…");
}

}  // namespace
}  // namespace soffit
