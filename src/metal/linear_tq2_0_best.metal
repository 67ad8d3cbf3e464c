// TQ2_0 matrix times vector without converting a code to float: as linear_q4_k_best.metal, with codes of two bits.
//
// Shifted left by two, a byte's codes are at bits 2, 4, 6 and 8 of a half that is 1024: 1024 + 4^(n+1) code. That is done
// for bytes 0 and 2 of a word by two additions, for 1 and 3 by a shift to the right of 6. 16 integer slots and 16 fma for
// 16 codes: 2 a weight.
//
// A simdgroup has kRows rows and takes 4 blocks of each a step; 8 lanes have 8 bytes each of a block. Byte b of a half of 32
// bytes holds columns b, 32 + b, 64 + b and 96 + b of the half's 128.
#include "metal/arguments.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

using namespace soffit;

template <typename X, typename Y>
kernel void linear_tq2_0_best(constant LinearArguments& arguments [[buffer(0)]],
                              device const uchar* weights [[buffer(1)]],
                              device const X* x [[buffer(2)]],
                              device Y* y [[buffer(3)]],
                              uint3 group [[threadgroup_position_in_grid]],
                              ushort lane [[thread_index_in_simdgroup]],
                              ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const ushort part = lane % 8;
  const uint blocks = arguments.cols / 256;
  const uint first_row = (group.x * kSimdgroups + simdgroup) * kRows;

  float result[kMostRows] = {0.0f};
  for (uint block = lane / 8; block < blocks; block += 4) {
    device const X* activations = x + group.y * arguments.x_stride + block * 256 + part / 4 * 128 + part % 4 * 8;
    X columns[4][8];
    float4 start = 0.0f;  // takes off the 1024, and the 1 that a code is more than its weight
    for (ushort n = 0; n < 4; ++n) {
      const float offset = 1024 + (4 << 2 * n);
      for (ushort i = 0; i < 8; ++i) {
        columns[n][i] = activations[32 * n + i];
        start[n] -= offset * columns[n][i];
      }
    }
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // rows behind the last read it again
      device const uchar* bytes = weights + row * arguments.row_bytes + block * 66;
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
      result[r] += whole * float(*reinterpret_cast<device const half*>(bytes + 64));
    }
  }
  for (ushort r = 0; r < kRows; ++r) {
    const float sum = simd_sum(result[r]);
    if (lane == 0 && first_row + r < arguments.rows) y[group.y * arguments.y_stride + first_row + r] = Y(sum);
  }
}

template [[host_name("linear_tq2_0_best_f32")]] kernel void linear_tq2_0_best<float, float>(
    constant LinearArguments&, device const uchar*, device const float*, device float*, uint3, ushort, ushort);
template [[host_name("linear_tq2_0_best_f16")]] kernel void linear_tq2_0_best<half, half>(
    constant LinearArguments&, device const uchar*, device const half*, device half*, uint3, ushort, ushort);
