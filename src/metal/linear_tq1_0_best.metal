// TQ1_0 matrix times vector without conversion, floor or shift.
//
// Two bytes stand in the halves of a word. Three times a byte has its first digit in bits 8 and 9, above the 8 bits that
// hold the rest; so, for both bytes at once,
//   u = 3 u;  digit = (u & 0x03000300) | 0x64006400, two halves of 1024 + 256 digit;  u = u & 0x00ff00ff
// and the fma takes the halves as they are: 5 integer slots and 2 fma for two digits. 1024 + 256 digit is 256 (digit - 1)
// and 1280 more, which the sum's start takes off.
//
// A lane has bytes 8 part … + 7 of the 32, 4 part … + 3 of the 16 and one of the 4 that have four digits: every lane has 13
// bytes and 64 columns.
#include "metal/linear.h"

namespace soffit {

// sum += digits of the bytes first and second, times the activations of the first (even places) and of the second.
template <ushort digits, ushort distance, typename X>
inline float with_digits(float sum, uchar first, uchar second, thread const X* columns) {
  uint u = as_type<uint>(ushort2(first, second));
  for (ushort n = 0; n < digits; ++n) {
    u = u + u + u;
    const half2 digit = as_type<half2>((u & 0x03000300u) | 0x64006400u);
    sum += float(digit.x) * columns[n * distance];
    sum += float(digit.y) * columns[n * distance + 1];
    if (n + 1 < digits) u &= 0x00ff00ffu;
  }
  return sum;
}

template <typename X>
struct TQ1Part {
  static constant constexpr ushort kColumns = 256, kBytes = 54, kParts = 4;
  static constant constexpr float kFactor = 1.0f / 256;

  X columns[40], more[20], last[4];
  float start;

  void load(device const X* x, ushort part) {
    start = 0.0f;
    for (ushort n = 0; n < 5; ++n) {
      for (ushort i = 0; i < 8; ++i) {
        columns[8 * n + i] = x[32 * n + 8 * part + i];
        start -= 1280.0f * columns[8 * n + i];
      }
      for (ushort i = 0; i < 4; ++i) {
        more[4 * n + i] = x[160 + 16 * n + 4 * part + i];
        start -= 1280.0f * more[4 * n + i];
      }
    }
    for (ushort n = 0; n < 4; ++n) {
      last[n] = x[240 + 4 * n + part];
      start -= 1280.0f * last[n];
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    device const uchar *first = bytes + 8 * part, *second = bytes + 32 + 4 * part;
    float sum = start;
    for (ushort i = 0; i < 8; i += 2) sum = with_digits<5, 8>(sum, first[i], first[i + 1], columns + i);
    for (ushort i = 0; i < 4; i += 2) sum = with_digits<5, 4>(sum, second[i], second[i + 1], more + i);
    uint u = bytes[48 + part];
    for (ushort n = 0; n < 4; ++n) {
      u = u + u + u;
      sum += float(as_type<half>(ushort((u & 0x0300u) | 0x6400u))) * last[n];
      if (n < 3) u &= 0x00ffu;
    }
    result += sum * float(*reinterpret_cast<device const half*>(bytes + 52));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(tq1_0_best, TQ1Part)
