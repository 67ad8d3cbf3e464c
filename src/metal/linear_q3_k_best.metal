// Q3_K matrix times vector without converting a code to float: two bits as in linear_tq2_0_best.metal, third bits as the
// fifth ones in linear_q5_k_best.metal. A lane has 16 bytes of two bits, so 16 columns of each of four groups.
//
// Two bytes at a time: 3 integer slots and 4 and for eight twos, as many for their third bits, each of which needs an fma of
// its own: 3.75 slots a weight.
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct Q3KPart {
  static constant constexpr ushort kColumns = 256, kBytes = 110, kParts = 4;
  static constant constexpr float kFactor = 1.0f;

  X columns[4][16];
  float4 start;      // takes off the 1024, and the 4 that a code is more than its weight
  float4 bit_start;  // the 1024
  float4 factors;    // from a sum of third bits to one of the twos: 4 codes are worth 4^(n+2)

  void load(device const X* x, ushort part) {
    start = bit_start = 0.0f;
    for (ushort n = 0; n < 4; ++n) {
      const float offset = 1024 + 4 * (4 << 2 * n);
      for (ushort i = 0; i < 16; ++i) {
        columns[n][i] = x[part / 2 * 128 + part % 2 * 16 + 32 * n + i];
        start[n] -= offset * columns[n][i];
        bit_start[n] -= 1024.0f * columns[n][i];
      }
    }
    factors = float4(4.0f, 8.0f, 16.0f, 32.0f) * (part / 2 ? 1.0f / 16 : 1.0f);
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    const ushort half_of_block = part / 2, sixteen = part % 2;
    device const uchar *twos = bytes + 32 + 16 * part, *thirds = bytes + 16 * sixteen;
    const uint first_bit = 0x00040004u << 4 * half_of_block;  // after the doublings
    float4 sum = start, bits = bit_start;
    for (ushort i = 0; i < 16; i += 2) {
      const uint two = as_type<uint>(ushort2(twos[i], twos[i + 1])), twice = two + two;
      const uint third = as_type<uint>(ushort2(thirds[i], thirds[i + 1])), third_twice = third + third;
      const uint codes = (twice + twice) | 0x64006400u, third_bits = (third_twice + third_twice) | 0x64006400u;
      for (ushort n = 0; n < 4; ++n) {
        const half2 pair = as_type<half2>(codes & (0x64006400u | 0x000c000cu << 2 * n));
        const half2 bit_pair = as_type<half2>(third_bits & (0x64006400u | first_bit << n));
        sum[n] += float(pair.x) * columns[n][i];
        sum[n] += float(pair.y) * columns[n][i + 1];
        bits[n] += float(bit_pair.x) * columns[n][i];
        bits[n] += float(bit_pair.y) * columns[n][i + 1];
      }
    }
    // The scale of group g, and 32: four bits of byte g % 8, of which the upper half of the block has the high ones, and two
    // of byte 8 + g % 4.
    device const uchar* packed = bytes + 96 + sixteen;
    const ushort shift = 4 * half_of_block;
    const uint low_0 = as_type<uint>(ushort2(packed[0], packed[2])) >> shift;
    const uint low_1 = as_type<uint>(ushort2(packed[4], packed[6])) >> shift;
    const uint high = as_type<uint>(ushort2(packed[8], packed[10])) >> shift;
    const uint scales_0 = (low_0 & 0x000f000fu) | ((high & 0x00030003u) << 4);
    const uint scales_1 = (low_1 & 0x000f000fu) | ((high & 0x000c000cu) << 2);
    const half2 scale_0 = as_type<half2>(scales_0 | 0x64006400u), scale_1 = as_type<half2>(scales_1 | 0x64006400u);
    const float4 powers(1.0f / 4, 1.0f / 16, 1.0f / 64, 1.0f / 256);
    const float4 scale = float4(scale_0.x, scale_0.y, scale_1.x, scale_1.y) * powers - (1024.0f + 32.0f) * powers;
    const float whole = dot(scale, bits * factors + sum);
    result += whole * float(*reinterpret_cast<device const half*>(bytes + 108));
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q3_k_best, Q3KPart)
