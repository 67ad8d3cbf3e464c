#include "text/unicode_additions.hpp"

#include <algorithm>
#include <iterator>

namespace soffit::text {
namespace {

constexpr uint32_t kPrivateUse = 0xE000;
constexpr uint32_t kMark3 = 0x0CBC;  // KANNADA SIGN NUKTA, three bytes
constexpr uint32_t kMark =
    0x101FD;  // PHAISTOS DISC SIGN COMBINING OBLIQUE STROKE; this and the next three take four bytes
constexpr uint32_t kLetter = 0x10000;  // LINEAR B SYLLABLE B008 A
constexpr uint32_t kNumber = 0x1D7CE;  // MATHEMATICAL BOLD DIGIT ZERO
constexpr uint32_t kPoint = 0x10100;   // AEGEAN WORD SEPARATOR LINE

struct Range {
  uint32_t first, last, stand_in;
};

constexpr Range kRanges[] = {
    {0x00CF3, 0x00CF3, kMark3},  {0x00ECE, 0x00ECE, kMark3},  {0x0D800, 0x0DFFF, kPrivateUse},
    {0x10EFD, 0x10EFF, kMark},   {0x1123F, 0x11240, kLetter}, {0x11241, 0x11241, kMark},
    {0x11B00, 0x11B09, kPoint},  {0x11F00, 0x11F01, kMark},   {0x11F02, 0x11F02, kLetter},
    {0x11F03, 0x11F03, kMark},   {0x11F04, 0x11F10, kLetter}, {0x11F12, 0x11F33, kLetter},
    {0x11F34, 0x11F3A, kMark},   {0x11F3E, 0x11F42, kMark},   {0x11F43, 0x11F4F, kPoint},
    {0x11F50, 0x11F59, kNumber}, {0x1342F, 0x1342F, kLetter}, {0x13440, 0x13440, kMark},
    {0x13441, 0x13446, kLetter}, {0x13447, 0x13455, kMark},   {0x1B132, 0x1B132, kLetter},
    {0x1B155, 0x1B155, kLetter}, {0x1D2C0, 0x1D2D3, kNumber}, {0x1DF25, 0x1DF2A, kLetter},
    {0x1E030, 0x1E06D, kLetter}, {0x1E08F, 0x1E08F, kMark},   {0x1E4D0, 0x1E4EB, kLetter},
    {0x1E4EC, 0x1E4EF, kMark},   {0x1E4F0, 0x1E4F9, kNumber}, {0x2B739, 0x2B739, kLetter},
    {0x2EBF0, 0x2EE5D, kLetter}, {0x31350, 0x323AF, kLetter},
};

}  // namespace

uint32_t class_stand_in(uint32_t code_point) {
  if (code_point < kRanges[0].first) return 0;
  const Range* range = std::upper_bound(std::begin(kRanges), std::end(kRanges), code_point,
                                        [](uint32_t value, const Range& r) { return value < r.first; }) -
                       1;
  return code_point <= range->last ? range->stand_in : 0;
}

}  // namespace soffit::text
