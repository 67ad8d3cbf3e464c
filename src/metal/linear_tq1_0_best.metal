// TQ1_0 matrix times vector without conversion, floor or shift.
//
// Two bytes stand in the halves of a word. Three times a byte has its first digit in bits 8 and 9, above the 8 bits that
// hold the rest; so, for both bytes at once,
//   u = 3 u;  digit = (u & 0x03000300) | 0x64006400, two halves of 1024 + 256 digit;  u = u & 0x00ff00ff
// and the fma takes the halves as they are: 5 integer slots and 2 fma for two digits. 1024 + 256 digit is 256 (digit - 1)
// and 1280 more, which the sum's start takes off.
//
// A simdgroup has kRows rows and takes 8 blocks of each a step, 4 lanes a block: lane l has bytes 8 part … + 7 of the 32, 4
// part … + 3 of the 16 and one of the 4 that have four digits, part = l % 4. A lane is busy with 13 bytes of 13.
#include "metal/arguments.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

using namespace soffit;

// sum += digits of the bytes first and second, times the activations of the first (even places) and of the second.
template <ushort digits, ushort distance, typename X>
inline float with_digits(float sum, uchar first, uchar second, thread const X* columns) {
  uint u = as_type<uint>(ushort2(first, second));
  for (ushort n = 0; n < digits; ++n) {
    u = u + u + u;
    const half2 digit = as_type<half2>((u & 0x03000300u) | 0x64006400u);
    sum += float(digit.x) * columns[n * distance];
    sum += float(digit.y) * columns[n * distance + 1];
    if (n + 1 < digits) u &= 0x00ff00ffu;
  }
  return sum;
}

template <typename X, typename Y>
kernel void linear_tq1_0_best(constant LinearArguments& arguments [[buffer(0)]],
                              device const uchar* weights [[buffer(1)]],
                              device const X* x [[buffer(2)]],
                              device Y* y [[buffer(3)]],
                              uint3 group [[threadgroup_position_in_grid]],
                              ushort lane [[thread_index_in_simdgroup]],
                              ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const ushort part = lane % 4;
  const uint blocks = arguments.cols / 256;
  const uint first_row = (group.x * kSimdgroups + simdgroup) * kRows;

  float result[kMostRows] = {0.0f};
  for (uint block = lane / 4; block < blocks; block += 8) {
    device const X* activations = x + group.y * arguments.x_stride + block * 256;
    X columns[40], more[20], last[4];
    float start = 0.0f;
    for (ushort n = 0; n < 5; ++n) {
      for (ushort i = 0; i < 8; ++i) {
        columns[8 * n + i] = activations[32 * n + 8 * part + i];
        start -= 1280.0f * columns[8 * n + i];
      }
      for (ushort i = 0; i < 4; ++i) {
        more[4 * n + i] = activations[160 + 16 * n + 4 * part + i];
        start -= 1280.0f * more[4 * n + i];
      }
    }
    for (ushort n = 0; n < 4; ++n) {
      last[n] = activations[240 + 4 * n + part];
      start -= 1280.0f * last[n];
    }
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // rows behind the last read it again
      device const uchar* bytes = weights + row * arguments.row_bytes + block * 54;
      device const uchar *first = bytes + 8 * part, *second = bytes + 32 + 4 * part;

      float sum = start;
      for (ushort i = 0; i < 8; i += 2) sum = with_digits<5, 8>(sum, first[i], first[i + 1], columns + i);
      for (ushort i = 0; i < 4; i += 2) sum = with_digits<5, 4>(sum, second[i], second[i + 1], more + i);
      uint u = bytes[48 + part];
      for (ushort n = 0; n < 4; ++n) {
        u = u + u + u;
        sum += float(as_type<half>(ushort((u & 0x0300u) | 0x6400u))) * last[n];
        if (n < 3) u &= 0x00ffu;
      }
      result[r] += sum * float(*reinterpret_cast<device const half*>(bytes + 52));
    }
  }
  for (ushort r = 0; r < kRows; ++r) {
    const float sum = simd_sum(result[r]) * (1.0f / 256);
    if (lane == 0 && first_row + r < arguments.rows) y[group.y * arguments.y_stride + first_row + r] = Y(sum);
  }
}

template [[host_name("linear_tq1_0_best_f32")]] kernel void linear_tq1_0_best<float, float>(
    constant LinearArguments&, device const uchar*, device const float*, device float*, uint3, ushort, ushort);
template [[host_name("linear_tq1_0_best_f16")]] kernel void linear_tq1_0_best<half, half>(
    constant LinearArguments&, device const uchar*, device const half*, device half*, uint3, ushort, ushort);
