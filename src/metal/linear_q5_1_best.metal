// Q5_1 matrix times vector without converting a code to float: nibbles.h. A lane has 8 of a block's 16 bytes of nibbles,
// loaded together: rows begin at multiples of 8 bytes.
#include "metal/linear.h"
#include "metal/nibbles.h"

namespace soffit {

template <typename X>
struct Q51Part {
  static constant constexpr ushort kColumns = 32, kBytes = 24, kParts = 2;
  static constant constexpr float kFactor = 1.0f / 16;

  X low[8], high[8];
  float start;
  float total;  // of the activations, 16 times, for the minimum

  void load(device const X* x, ushort part) {
    start = 0.0f;
    for (ushort i = 0; i < 8; ++i) {
      low[i] = x[8 * part + i];
      high[i] = x[16 + 8 * part + i];
      start -= 1024.0f * low[i];
      start -= 1024.0f * high[i];
    }
    total = start * (-1.0f / 64);
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    const uint2 words = *reinterpret_cast<device const uint2*>(bytes + 8 + 8 * part);
    const float sum = with_five_bits(start, words, bytes[4 + part], bytes[6 + part], low, high);
    device const half* scale = reinterpret_cast<device const half*>(bytes);
    result += sum * float(scale[0]);
    result += total * float(scale[1]);
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q5_1_best, Q51Part)
