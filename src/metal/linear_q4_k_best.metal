// Q4_K matrix times vector without converting a code to float.
//
// A half with the bits 0x6400 is 1024, and the 10 bits of its mantissa count in ones. So a nibble that is put at bits 1 … 4
// of such a half makes it 1024 + 2 code, at bits 5 … 8 1024 + 32 code: two codes a 32-bit operation, and the fma takes the
// half as it is. Sums begin at -1024 times the sum of their activations, which takes the 1024 off again.
//   v + v   has the nibbles of bytes 0 and 2 there, v >> 7 those of bytes 1 and 3;
//   | 0x64006400 once for both nibbles, since the masks that pick them (0x641e641e, 0x65e065e0) clear the rest
// That is 11 integer slots and 8 fma for 8 codes: 2.375 a weight, against 6 of mask, convert, fma.
//
// A lane has the 32 bytes that hold groups 2 part and the next: each scale and minimum is decoded by one lane alone.
// 16-byte loads: rows begin at multiples of 16 bytes, as they do in a GGUF file.
#include "metal/k_scales.h"
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct Q4KPart {
  static constant constexpr ushort kColumns = 256, kBytes = 144, kParts = 4;
  static constant constexpr float kFactor = 1.0f;

  X low[32], high[32];  // columns of the low nibbles' group, of the high ones'
  float low_start, high_start;

  void load(device const X* x, ushort part) {
    low_start = high_start = 0.0f;
    for (ushort i = 0; i < 32; ++i) {
      low[i] = x[64 * part + i];
      high[i] = x[64 * part + 32 + i];
      low_start -= 1024.0f * low[i];
      high_start -= 1024.0f * high[i];
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& sum) const {
    float low_sum = low_start, high_sum = high_start;
    for (ushort part_of_16 = 0; part_of_16 < 2; ++part_of_16) {
      const uint4 words = reinterpret_cast<device const uint4*>(bytes + 16 + 32 * part)[part_of_16];
      for (ushort i = 0; i < 4; ++i) {
        const ushort first = part_of_16 * 16 + i * 4;
        const uint even = (words[i] + words[i]) | 0x64006400u, odd = (words[i] >> 7) | 0x64006400u;
        const half2 even_low = as_type<half2>(even & 0x641e641eu), odd_low = as_type<half2>(odd & 0x641e641eu);
        const half2 even_high = as_type<half2>(even & 0x65e065e0u), odd_high = as_type<half2>(odd & 0x65e065e0u);
        low_sum += float(even_low.x) * low[first];
        low_sum += float(odd_low.x) * low[first + 1];
        low_sum += float(even_low.y) * low[first + 2];
        low_sum += float(odd_low.y) * low[first + 3];
        high_sum += float(even_high.x) * high[first];
        high_sum += float(odd_high.x) * high[first + 1];
        high_sum += float(even_high.y) * high[first + 2];
        high_sum += float(odd_high.y) * high[first + 3];
      }
    }
    // What takes 1024 off the scales takes the factors 2 and 32 off the sums too, and -1024 off the starts that the minima
    // are multiplied with.
    device const half* scale = reinterpret_cast<device const half*>(bytes);
    const PairOfScales pair = pair_of_scales(reinterpret_cast<device const ushort*>(bytes + 4), part);
    const half low_scale = pair.first.x * (1.0h / 2) - 512.0h, high_scale = pair.second.x * (1.0h / 32) - 32.0h;
    const half low_minimum = 1.0h - pair.first.y * (1.0h / 1024), high_minimum = 1.0h - pair.second.y * (1.0h / 1024);
    sum += float(scale[0]) * (low_scale * low_sum + high_scale * high_sum);
    sum -= float(scale[1]) * (low_minimum * low_start + high_minimum * high_start);
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q4_k_best, Q4KPart)
