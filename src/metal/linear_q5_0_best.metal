// Q5_0 matrix times vector without converting a code to float: nibbles.h. A lane has 8 of a block's 16 bytes of nibbles.
#include "metal/linear.h"
#include "metal/nibbles.h"

namespace soffit {

template <typename X>
struct Q50Part {
  static constant constexpr ushort kColumns = 32, kBytes = 22, kParts = 2;
  static constant constexpr float kFactor = 1.0f / 16;

  X low[8], high[8];
  float start;  // takes off the 1024, and the 16 that a code is more than its weight

  void load(device const X* x, ushort part) {
    start = 0.0f;
    for (ushort i = 0; i < 8; ++i) {
      low[i] = x[8 * part + i];
      high[i] = x[16 + 8 * part + i];
      start -= (1024.0f + 16.0f * 16.0f) * low[i];
      start -= (1024.0f + 16.0f * 16.0f) * high[i];
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    device const ushort* codes = reinterpret_cast<device const ushort*>(bytes + 6 + 8 * part);
    const uint2 words(as_type<uint>(ushort2(codes[0], codes[1])), as_type<uint>(ushort2(codes[2], codes[3])));
    const float sum = with_five_bits(start, words, bytes[2 + part], bytes[4 + part], low, high);
    result += sum * float(*reinterpret_cast<device const half*>(bytes));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q5_0_best, Q50Part)
