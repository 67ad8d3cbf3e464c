// Q4_K matrix times vector, the way of the write-up "Writing a high performant GEMV + dequant for Metal".
//
// A simdgroup has kRows rows and takes 4 blocks of each a step: 1024 columns. Its lanes by number:
//   cohort  lane / 8      which of the 4 blocks
//   team    lane % 8 / 4  groups 0 1 4 5 (team 0) or 2 3 6 7 (team 1) of the block's eight
//   part    lane % 4      columns 8 part … 8 part + 7 of each of these groups
// A 16-bit word of quants holds two columns of two groups. Its nibbles are masked where they stand, 1, 16, 256 and 4096
// times too large, and the sums are put right afterwards: no shifts.
//
// Functions constants are the write-up's tuning: simdgroups of a threadgroup (its best: 2) and rows of a simdgroup (2).
#include "metal/arguments.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

using namespace soffit;

template <typename X, typename Y>
kernel void linear_q4_k_seed(constant LinearArguments& arguments [[buffer(0)]],
                             device const uchar* weights [[buffer(1)]],
                             device const X* x [[buffer(2)]],
                             device Y* y [[buffer(3)]],
                             uint3 group [[threadgroup_position_in_grid]],
                             ushort lane [[thread_index_in_simdgroup]],
                             ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const ushort cohort = lane / 8, team = lane % 8 / 4, part = lane % 4;
  const uint blocks = arguments.cols / 256;
  const uint first_row = (group.x * kSimdgroups + simdgroup) * kRows;
  device const X* activations = x + group.y * arguments.x_stride + cohort * 256 + team * 64 + part * 8;

  float result[kMostRows] = {0.0f};
  for (uint block = cohort; block < blocks; block += 4) {
    // The lane's columns of its four groups, and their sums, which all rows share.
    float low[16], high[16];  // groups 0 1 and 4 5, or 2 3 and 6 7
    float4 sums = 0.0f;
    for (ushort i = 0; i < 8; ++i) {
      low[i] = float(activations[i]);
      low[i + 8] = float(activations[i + 32]);
      high[i] = float(activations[i + 128]);
      high[i + 8] = float(activations[i + 160]);
      sums[0] += low[i];
      sums[1] += low[i + 8];
      sums[2] += high[i];
      sums[3] += high[i + 8];
    }
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // rows behind the last read it again
      device const uchar* bytes = weights + row * arguments.row_bytes + block * 144;
      device const half* scale = reinterpret_cast<device const half*>(bytes);
      device const ushort* packed = reinterpret_cast<device const ushort*>(bytes + 4) + team;
      device const ushort* first = reinterpret_cast<device const ushort*>(bytes + 16) + team * 16 + part * 4;
      device const ushort* second = first + 32;

      // Scales and minima of two neighbouring groups are one word.
      ushort words[4];
      thread const uchar* six_bits = reinterpret_cast<thread const uchar*>(words);
      words[0] = packed[0] & 0x3f3f;
      words[1] = packed[2] & 0x3f3f;
      words[2] = (packed[4] & 0x0f0f) | ((packed[0] & 0xc0c0) >> 2);
      words[3] = ((packed[4] >> 4) & 0x0f0f) | ((packed[2] & 0xc0c0) >> 2);

      float4 near = 0.0f, far = 0.0f;
      for (ushort i = 0; i < 4; ++i) {
        near[0] += low[2 * i] * float(first[i] & 0x000f);
        near[1] += low[2 * i + 1] * float(first[i] & 0x0f00);
        near[2] += low[2 * i + 8] * float(first[i] & 0x00f0);
        near[3] += low[2 * i + 9] * float(first[i] & 0xf000);
        far[0] += high[2 * i] * float(second[i] & 0x000f);
        far[1] += high[2 * i + 1] * float(second[i] & 0x0f00);
        far[2] += high[2 * i + 8] * float(second[i] & 0x00f0);
        far[3] += high[2 * i + 9] * float(second[i] & 0xf000);
      }
      const float scaled = (near[0] + near[1] * (1.0f / 256)) * six_bits[0] +
                           (near[2] + near[3] * (1.0f / 256)) * six_bits[1] * (1.0f / 16) +
                           (far[0] + far[1] * (1.0f / 256)) * six_bits[4] +
                           (far[2] + far[3] * (1.0f / 256)) * six_bits[5] * (1.0f / 16);
      result[r] += float(scale[0]) * scaled -
                   float(scale[1]) * dot(sums, float4(six_bits[2], six_bits[3], six_bits[6], six_bits[7]));
    }
    activations += 4 * 256;
  }
  for (ushort r = 0; r < kRows; ++r) {
    const float sum = simd_sum(result[r]);
    if (lane == 0 && first_row + r < arguments.rows) y[group.y * arguments.y_stride + first_row + r] = Y(sum);
  }
}

template [[host_name("linear_q4_k_seed_f32")]] kernel void linear_q4_k_seed<float, float>(
    constant LinearArguments&, device const uchar*, device const float*, device float*, uint3, ushort, ushort);
template [[host_name("linear_q4_k_seed_f16")]] kernel void linear_q4_k_seed<half, half>(
    constant LinearArguments&, device const uchar*, device const half*, device half*, uint3, ushort, ushort);
