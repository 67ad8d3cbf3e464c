// TQ1_0 matrix times vector, flattened as the write-up on TQ1_0 does it. qs[48] and qh[4] are neighbours, so the payload is
// 52 bytes in a row: lane l has byte l and byte 32 + l, 52 of 64 lane slots.
//
// Bytes 48 … 51 have four digits where the others have five. With 0 for the activation of the fifth, the coefficient of
// F(5) is 0 and that of F(4) is y(3): the sum for four digits, by the same code. Lanes from 20 on have no second byte: they
// read the last one again, with coefficients of 0.
#include "metal/arguments.h"
#include "metal/ternary.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

using namespace soffit;

template <typename X, typename Y>
kernel void linear_tq1_0_flat(constant LinearArguments& arguments [[buffer(0)]],
                              device const uchar* weights [[buffer(1)]],
                              device const X* x [[buffer(2)]],
                              device Y* y [[buffer(3)]],
                              uint3 group [[threadgroup_position_in_grid]],
                              ushort lane [[thread_index_in_simdgroup]],
                              ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint blocks = arguments.cols / 256;
  const uint first_row = (group.x * kSimdgroups + simdgroup) * kRows;
  device const X* activations = x + group.y * arguments.x_stride;

  // Where the digits of the second byte belong: 16 bytes of five, 4 of four, then none.
  const bool tail = lane >= 16, none = lane >= 20;
  const ushort second_byte = min(ushort(32 + lane), ushort(51));
  const ushort second_column = none ? 0 : tail ? 240 + lane - 16 : 160 + lane;
  const ushort distance = tail ? 4 : 16, digits = none ? 0 : tail ? 4 : 5;

  float result[kMostRows] = {0.0f};
  for (uint block = 0; block < blocks; ++block) {
    const Coefficients first = coefficients(activations + lane, 32, 5);
    const Coefficients second = coefficients(activations + second_column, distance, digits);
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);
      device const uchar* bytes = weights + row * arguments.row_bytes + block * 54;
      const float sum = collapsed(bytes[lane], first) + collapsed(bytes[second_byte], second);
      result[r] += sum * float(*reinterpret_cast<device const half*>(bytes + 52));
    }
    activations += 256;
  }
  for (ushort r = 0; r < kRows; ++r) {
    const float sum = simd_sum(result[r]);
    if (lane == 0 && first_row + r < arguments.rows) y[group.y * arguments.y_stride + first_row + r] = Y(sum);
  }
}

template [[host_name("linear_tq1_0_flat_f32")]] kernel void linear_tq1_0_flat<float, float>(
    constant LinearArguments&, device const uchar*, device const float*, device float*, uint3, ushort, ushort);
template [[host_name("linear_tq1_0_flat_f16")]] kernel void linear_tq1_0_flat<half, half>(
    constant LinearArguments&, device const uchar*, device const half*, device half*, uint3, ushort, ushort);
