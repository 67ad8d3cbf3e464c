// Q5_K matrix times vector without converting a code to float: nibbles as in linear_q4_k_best.metal, fifth bits apart.
//
// A byte of qh has a bit for each of the block's eight groups; a lane, with two groups, needs two neighbouring ones. Shifted
// by 2 (two additions) they are bits of a half that is 1024, picked by masks that depend on the lane. Such a bit counts 4^part
// times 4 or 8 in its sum, which a factor puts right once a block. 2.25 slots a weight more than Q4_K.
#include "metal/k_scales.h"
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct Q5KPart {
  static constant constexpr ushort kColumns = 256, kBytes = 176, kParts = 4;
  static constant constexpr float kFactor = 1.0f;

  X low[32], high[32];
  float low_start, high_start;
  float low_factor, high_factor;  // from a sum of fifth bits to the nibbles' sum: 16 codes are worth 2 and 32 times as much

  void load(device const X* x, ushort part) {
    low_start = high_start = 0.0f;
    for (ushort i = 0; i < 32; ++i) {
      low[i] = x[64 * part + i];
      high[i] = x[64 * part + 32 + i];
      low_start -= 1024.0f * low[i];
      high_start -= 1024.0f * high[i];
    }
    const ushort bit = 4 << 2 * part;
    low_factor = 16.0f * 2 / bit;
    high_factor = 16.0f * 32 / (2 * bit);
  }

  void add_row(device const uchar* bytes, ushort part, thread float& sum) const {
    float low_sum = low_start, high_sum = high_start, low_bits = low_start, high_bits = high_start;
    for (ushort part_of_16 = 0; part_of_16 < 2; ++part_of_16) {
      const uint4 words = reinterpret_cast<device const uint4*>(bytes + 48 + 32 * part)[part_of_16];
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
    const uint low_mask = 0x64006400u | 0x00040004u << 2 * part, high_mask = 0x64006400u | 0x00080008u << 2 * part;
    device const uchar* fifth = bytes + 16;
    for (ushort i = 0; i < 32; i += 2) {
      const uint pair = as_type<uint>(ushort2(fifth[i], fifth[i + 1])), twice = pair + pair;
      const uint bits = (twice + twice) | 0x64006400u;
      const half2 lows = as_type<half2>(bits & low_mask), highs = as_type<half2>(bits & high_mask);
      low_bits += float(lows.x) * low[i];
      low_bits += float(lows.y) * low[i + 1];
      high_bits += float(highs.x) * high[i];
      high_bits += float(highs.y) * high[i + 1];
    }
    low_sum += low_bits * low_factor;
    high_sum += high_bits * high_factor;
    device const half* scale = reinterpret_cast<device const half*>(bytes);
    const PairOfScales pair = pair_of_scales(reinterpret_cast<device const ushort*>(bytes + 4), part);
    const half low_scale = pair.first.x * (1.0h / 2) - 512.0h, high_scale = pair.second.x * (1.0h / 32) - 32.0h;
    const half low_minimum = 1.0h - pair.first.y * (1.0h / 1024), high_minimum = 1.0h - pair.second.y * (1.0h / 1024);
    sum += float(scale[0]) * (low_scale * low_sum + high_scale * high_sum);
    sum -= float(scale[1]) * (low_minimum * low_start + high_minimum * high_start);
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q5_k_best, Q5KPart)
