// TQ2_0 matrix times vector without converting a code to float: as linear_q4_k_best.metal, with codes of two bits.
//
// Shifted left by two, a byte's codes are at bits 2, 4, 6 and 8 of a half that is 1024: 1024 + 4^(n+1) code. That is done
// for bytes 0 and 2 of a word by two additions, for 1 and 3 by a shift to the right of 6. 16 integer slots and 16 fma for
// 16 codes: 2 a weight.
//
// A lane has 8 bytes of a block. Byte b of a half of 32 bytes holds columns b, 32 + b, 64 + b and 96 + b of the half's 128.
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct TQ2Part {
  static constant constexpr ushort kColumns = 256, kBytes = 66, kParts = 8;
  static constant constexpr float kFactor = 1.0f;

  X columns[4][8];
  float4 start;  // takes off the 1024, and the 1 that a code is more than its weight

  void load(device const X* x, ushort part) {
    start = 0.0f;
    for (ushort n = 0; n < 4; ++n) {
      const float offset = 1024 + (4 << 2 * n);
      for (ushort i = 0; i < 8; ++i) {
        columns[n][i] = x[part / 4 * 128 + part % 4 * 8 + 32 * n + i];
        start[n] -= offset * columns[n][i];
      }
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    device const ushort* codes = reinterpret_cast<device const ushort*>(bytes + 8 * part);
    float4 sum = start;
    for (ushort i = 0; i < 2; ++i) {
      const uint word = as_type<uint>(ushort2(codes[2 * i], codes[2 * i + 1])), twice = word + word;
      const uint even = (twice + twice) | 0x64006400u, odd = (word >> 6) | 0x64006400u;
      for (ushort n = 0; n < 4; ++n) {
        const uint mask = 0x64006400u | 0x000c000cu << 2 * n;
        const half2 evens = as_type<half2>(even & mask), odds = as_type<half2>(odd & mask);
        sum[n] += float(evens.x) * columns[n][4 * i];
        sum[n] += float(odds.x) * columns[n][4 * i + 1];
        sum[n] += float(evens.y) * columns[n][4 * i + 2];
        sum[n] += float(odds.y) * columns[n][4 * i + 3];
      }
    }
    const float whole = dot(sum, float4(1.0f / 4, 1.0f / 16, 1.0f / 64, 1.0f / 256));
    result += whole * float(*reinterpret_cast<device const half*>(bytes + 64));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(tq2_0_best, TQ2Part)
