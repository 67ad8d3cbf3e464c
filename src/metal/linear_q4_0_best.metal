// Q4_0 matrix times vector without converting a code to float: nibbles.h. A lane has 8 of a block's 16 bytes.
#include "metal/linear.h"
#include "metal/nibbles.h"

namespace soffit {

template <typename X>
struct Q40Part {
  static constant constexpr ushort kColumns = 32, kBytes = 18, kParts = 2;
  static constant constexpr float kFactor = 1.0f;

  X low[8], high[8];
  float low_start, high_start;  // take off the 1024, and the 8 that a code is more than its weight

  void load(device const X* x, ushort part) {
    low_start = high_start = 0.0f;
    for (ushort i = 0; i < 8; ++i) {
      low[i] = x[8 * part + i];
      high[i] = x[16 + 8 * part + i];
      low_start -= (1024.0f + 2.0f * 8.0f) * low[i];
      high_start -= (1024.0f + 32.0f * 8.0f) * high[i];
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    device const ushort* codes = reinterpret_cast<device const ushort*>(bytes + 2 + 8 * part);
    float low_sum = low_start, high_sum = high_start;
    for (ushort i = 0; i < 2; ++i) {
      const uint word = as_type<uint>(ushort2(codes[2 * i], codes[2 * i + 1]));
      add_nibbles(word, low + 4 * i, high + 4 * i, low_sum, high_sum);
    }
    const float sum = low_sum * (1.0f / 2) + high_sum * (1.0f / 32);
    result += sum * float(*reinterpret_cast<device const half*>(bytes));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q4_0_best, Q40Part)
