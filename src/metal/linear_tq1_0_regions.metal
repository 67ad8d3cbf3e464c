// TQ1_0 matrix times vector, the way that the write-up on TQ1_0 starts from: a block's payload as three regions of 32, 16
// and 4 bytes, each behind its own condition. A simdgroup takes a block of kRows rows a step; lane l has byte l of each
// region. 52 of 96 lane slots do something.
//
// A byte's digits t0 … t4 (the first the most significant) come from F(k) = floor(3^k byte / 256): t(n) = F(n+1) - 3 F(n).
// So  sum (t(n) - 1) y(n) = sum over k = 1 … 4 of F(k) (y(k-1) - 3 y(k)) + F(5) y(4) - sum y(n):
// the coefficients depend on the activations alone and serve all rows.
#include "metal/arguments.h"
#include "metal/ternary.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

using namespace soffit;

template <typename X, typename Y>
kernel void linear_tq1_0_regions(constant LinearArguments& arguments [[buffer(0)]],
                                 device const uchar* weights [[buffer(1)]],
                                 device const X* x [[buffer(2)]],
                                 device Y* y [[buffer(3)]],
                                 uint3 group [[threadgroup_position_in_grid]],
                                 ushort lane [[thread_index_in_simdgroup]],
                                 ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint blocks = arguments.cols / 256;
  const uint first_row = (group.x * kSimdgroups + simdgroup) * kRows;
  device const X* activations = x + group.y * arguments.x_stride;

  float result[kMostRows] = {0.0f};
  for (uint block = 0; block < blocks; ++block) {
    const Coefficients first = coefficients(activations + lane, 32, 5);
    Coefficients second, third;
    if (lane < 16) second = coefficients(activations + 160 + lane, 16, 5);
    if (lane < 4) third = coefficients(activations + 240 + lane, 4, 4);
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);
      device const uchar* bytes = weights + row * arguments.row_bytes + block * 54;
      float sum = collapsed(bytes[lane], first);
      if (lane < 16) sum += collapsed(bytes[32 + lane], second);
      if (lane < 4) sum += collapsed_four(bytes[48 + lane], third);
      result[r] += sum * float(*reinterpret_cast<device const half*>(bytes + 52));
    }
    activations += 256;
  }
  for (ushort r = 0; r < kRows; ++r) {
    const float sum = simd_sum(result[r]);
    if (lane == 0 && first_row + r < arguments.rows) y[group.y * arguments.y_stride + first_row + r] = Y(sum);
  }
}

template [[host_name("linear_tq1_0_regions_f32")]] kernel void linear_tq1_0_regions<float, float>(
    constant LinearArguments&, device const uchar*, device const float*, device float*, uint3, ushort, ushort);
template [[host_name("linear_tq1_0_regions_f16")]] kernel void linear_tq1_0_regions<half, half>(
    constant LinearArguments&, device const uchar*, device const half*, device half*, uint3, ushort, ushort);
