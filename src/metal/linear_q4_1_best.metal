// Q4_1 matrix times vector without converting a code to float: nibbles.h. A lane has 8 of a block's 16 bytes, loaded as
// words: rows begin at multiples of 4 bytes.
#include "metal/linear.h"
#include "metal/nibbles.h"

namespace soffit {

template <typename X>
struct Q41Part {
  static constant constexpr ushort kColumns = 32, kBytes = 20, kParts = 2;
  static constant constexpr float kFactor = 1.0f;

  X low[8], high[8];
  float low_start, high_start;
  float total;  // of the activations, for the minimum

  void load(device const X* x, ushort part) {
    low_start = high_start = 0.0f;
    for (ushort i = 0; i < 8; ++i) {
      low[i] = x[8 * part + i];
      high[i] = x[16 + 8 * part + i];
      low_start -= 1024.0f * low[i];
      high_start -= 1024.0f * high[i];
    }
    total = (low_start + high_start) * (-1.0f / 1024);
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    device const uint* words = reinterpret_cast<device const uint*>(bytes + 4 + 8 * part);
    float low_sum = low_start, high_sum = high_start;
    for (ushort i = 0; i < 2; ++i) add_nibbles(words[i], low + 4 * i, high + 4 * i, low_sum, high_sum);
    device const half* scale = reinterpret_cast<device const half*>(bytes);
    const float sum = low_sum * (1.0f / 2) + high_sum * (1.0f / 32);
    result += sum * float(scale[0]);
    result += total * float(scale[1]);
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q4_1_best, Q41Part)
