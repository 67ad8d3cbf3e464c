// Q6_K matrix times vector without converting a code to float: as linear_q4_k_best.metal, with codes of six bits.
//
// Four codes share two bytes of ql and one of qh. With the bytes of two neighbours in the halves of words a, b and h:
//   code 0: low nibble of a,  bits 0 1 of h     in place at bits 0 … 5 when h is shifted by 4
//   code 1: low nibble of b,  bits 2 3                                  by 2
//   code 2: high nibble of a, bits 4 5          in place at bits 4 … 9  by 4: 1024 + 16 code
//   code 3: high nibble of b, bits 6 7                                  by 2
// The shifts are 4 additions; 0x64006400 goes into the two shifted words, so that each code is two and, one or: 18 integer
// slots and 8 fma for 8 codes, 3.25 a weight.
//
// A lane has 16 neighbours of a half of the block: 64 codes in four groups of 16.
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct Q6KPart {
  static constant constexpr ushort kColumns = 256, kBytes = 210, kParts = 4;
  static constant constexpr float kFactor = 1.0f;

  X columns[4][16];
  float4 start;  // takes off the 1024, and the 32 that a code is more than its value

  void load(device const X* x, ushort part) {
    start = 0.0f;
    for (ushort k = 0; k < 4; ++k) {
      const float offset = k < 2 ? 1024.0f + 32.0f : 1024.0f + 16.0f * 32.0f;
      for (ushort i = 0; i < 16; ++i) {
        columns[k][i] = x[part / 2 * 128 + part % 2 * 16 + 32 * k + i];
        start[k] -= offset * columns[k][i];
      }
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    const ushort half_of_block = part / 2, sixteen = part % 2;
    device const uchar* low = bytes + 64 * half_of_block + 16 * sixteen;
    device const uchar* high = bytes + 128 + 32 * half_of_block + 16 * sixteen;
    float4 sum = start;
    for (ushort i = 0; i < 16; i += 2) {
      const uint a = as_type<uint>(ushort2(low[i], low[i + 1]));
      const uint b = as_type<uint>(ushort2(low[32 + i], low[32 + i + 1]));
      const uint h = as_type<uint>(ushort2(high[i], high[i + 1])), twice = h + h, by_two = twice + twice;
      const uint by_three = by_two + by_two;
      const uint two = by_two | 0x64006400u, four = (by_three + by_three) | 0x64006400u;
      const half2 codes[4] = {as_type<half2>((a & 0x000f000fu) | (four & 0x64306430u)),
                              as_type<half2>((b & 0x000f000fu) | (two & 0x64306430u)),
                              as_type<half2>((a & 0x00f000f0u) | (four & 0x67006700u)),
                              as_type<half2>((b & 0x00f000f0u) | (two & 0x67006700u))};
      for (ushort k = 0; k < 4; ++k) {
        sum[k] += float(codes[k].x) * columns[k][i];
        sum[k] += float(codes[k].y) * columns[k][i + 1];
      }
    }
    // Scales are signed bytes: 1152 + scale as a half, as in Q8_0.
    device const uchar* scales = bytes + 192 + 8 * half_of_block + sixteen;
    const half2 first = as_type<half2>(as_type<uint>(ushort2(scales[0], scales[2])) ^ 0x64806480u);
    const half2 second = as_type<half2>(as_type<uint>(ushort2(scales[4], scales[6])) ^ 0x64806480u);
    const half scale_0 = first.x - 1152.0h, scale_1 = first.y - 1152.0h;
    const half scale_2 = second.x * (1.0h / 16) - 72.0h, scale_3 = second.y * (1.0h / 16) - 72.0h;
    const float whole = scale_0 * sum[0] + scale_1 * sum[1] + scale_2 * sum[2] + scale_3 * sum[3];
    result += whole * float(*reinterpret_cast<device const half*>(bytes + 208));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q6_k_best, Q6KPart)
