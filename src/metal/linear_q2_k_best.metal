// Q2_K matrix times vector without converting a code to float: two bits as in linear_tq2_0_best.metal, scales and minima as
// halves of 1024 and something too. A lane has 16 bytes, so 16 columns of each of four groups. Rows begin at multiples of
// 4 bytes.
#include "metal/linear.h"

namespace soffit {

template <typename X>
struct Q2KPart {
  static constant constexpr ushort kColumns = 256, kBytes = 84, kParts = 4;
  static constant constexpr float kFactor = 1.0f;

  X columns[4][16];
  float4 start;  // takes off the 1024

  void load(device const X* x, ushort part) {
    start = 0.0f;
    for (ushort n = 0; n < 4; ++n) {
      for (ushort i = 0; i < 16; ++i) {
        columns[n][i] = x[part / 2 * 128 + part % 2 * 16 + 32 * n + i];
        start[n] -= 1024.0f * columns[n][i];
      }
    }
  }

  void add_row(device const uchar* bytes, ushort part, thread float& result) const {
    device const uint* codes = reinterpret_cast<device const uint*>(bytes + 16 + 16 * part);
    float4 sum = start;
    for (ushort i = 0; i < 4; ++i) {
      const uint word = codes[i], twice = word + word;
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
    // A byte has the scale and, above it, the minimum of a group. What takes the 1024 off them takes off the factors, too,
    // that sums and starts have.
    device const uchar* packed = bytes + part / 2 * 8 + part % 2;
    const uint first = as_type<uint>(ushort2(packed[0], packed[2])) | 0x64006400u;
    const uint second = as_type<uint>(ushort2(packed[4], packed[6])) | 0x64006400u;
    const half2 scale_0 = as_type<half2>(first & 0x640f640fu), scale_1 = as_type<half2>(second & 0x640f640fu);
    const half2 least_0 = as_type<half2>(first & 0x64f064f0u), least_1 = as_type<half2>(second & 0x64f064f0u);
    const float4 factors(1.0f / 4, 1.0f / 16, 1.0f / 64, 1.0f / 256);
    const float4 scale = float4(scale_0.x, scale_0.y, scale_1.x, scale_1.y) * factors - 1024.0f * factors;
    const float4 minimum = float4(least_0.x, least_0.y, least_1.x, least_1.y) * (1.0f / 16384) - 1.0f / 16;
    device const half* scales = reinterpret_cast<device const half*>(bytes + 80);
    result += float(scales[0]) * dot(scale, sum);
    result += float(scales[1]) * dot(minimum, start);
  }
};

}  // namespace soffit

SOFFIT_LINEAR_KERNEL(q2_k_best, Q2KPart)
