// TQ1_0 and TQ2_0 over every byte value, at every place of a block.
#include <array>
#include <set>

#include "support.hpp"

namespace soffit::test {
namespace {

struct Place {
  int byte, digit;
};
// Where TQ1_0 keeps element i.
Place place_of(int i) {
  if (i < 160) return {i % 32, i / 32};
  if (i < 240) return {32 + (i - 160) % 16, (i - 160) / 16};
  return {48 + (i - 240) % 4, (i - 240) / 4};
}

// byte/256 as a base-3 fraction, by long division.
std::array<int, 5> digits_of(int byte) {
  std::array<int, 5> digits;
  int remainder = byte;
  for (int& digit : digits) {
    remainder *= 3;
    digit = remainder / 256;
    remainder %= 256;
  }
  return digits;
}

TEST(TQ1_0, EveryByteValueAtEveryPlace) {
  for (int value = 0; value < 256; ++value)
    for (int place = 0; place < 52; ++place) {
      std::vector<uint8_t> block(54);
      block[place] = uint8_t(value);
      set_word(block, 52, 0x3c00);  // 1
      const auto y = decode(Format::tq1_0, block);
      for (int i = 0; i < 256; ++i) {
        const auto p = place_of(i);
        ASSERT_EQ(y[i], (p.byte == place ? digits_of(value)[p.digit] : 0) - 1) << "byte " << value << " at " << place;
      }
    }
}

// Byte 0 gets each of the 243 combinations of five digits, byte 48 each of the 81 of four.
TEST(TQ1_0, EncodesEveryCombinationOfDigits) {
  std::set<int> written;
  for (int combination = 0; combination < 243; ++combination) {
    std::vector<float> x(256, 1.0f);
    const int digits[] = {combination / 81, combination / 27 % 3, combination / 9 % 3, combination / 3 % 3,
                          combination % 3};
    for (int n = 0; n < 5; ++n) x[n * 32] = float(digits[n] - 1);
    for (int n = 0; n < 4; ++n) x[240 + n * 4] = float(digits[n] - 1);
    const auto block = encode(Format::tq1_0, x);
    ASSERT_EQ(block[0], (combination * 256 + 242) / 243);
    ASSERT_EQ(block[48], (combination / 3 * 3 * 256 + 242) / 243);
    ASSERT_EQ(decode(Format::tq1_0, block), x) << combination;
    written.insert(block[0]);
  }
  std::set<int> never;
  for (int value = 0; value < 256; ++value)
    if (!written.contains(value)) never.insert(value);
  EXPECT_EQ(never, (std::set<int>{1, 20, 40, 60, 79, 99, 119, 138, 158, 178, 197, 217, 237}));
}

TEST(TQ2_0, EveryByteValueAtEveryPlace) {
  for (int value = 0; value < 256; ++value)
    for (int place = 0; place < 64; ++place) {
      std::vector<uint8_t> block(66);
      block[place] = uint8_t(value);
      set_word(block, 64, 0xc000);  // -2
      const auto y = decode(Format::tq2_0, block);
      for (int i = 0; i < 256; ++i) {
        const int byte = i / 128 * 32 + i % 32, field = i / 32 % 4;
        ASSERT_EQ(y[i], -2 * ((byte == place ? value >> 2 * field & 3 : 0) - 1)) << "byte " << value << " at " << place;
      }
    }
}

}  // namespace
}  // namespace soffit::test
