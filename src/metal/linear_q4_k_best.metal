// Q4_K matrix times vector without converting a code to float.
//
// A half with the bits 0x6400 is 1024, and the 10 bits of its mantissa count in ones. So a nibble that is put at bits 1 … 4
// of such a half makes it 1024 + 2 code, at bits 5 … 8 1024 + 32 code: two codes a 32-bit operation, and the fma takes the
// half as it is. Sums begin at -1024 times the sum of their activations, which takes the 1024 off again.
//   v + v   has the nibbles of bytes 0 and 2 there, v >> 7 those of bytes 1 and 3;
//   | 0x64006400 once for both nibbles, since the masks that pick them (0x641e641e, 0x65e065e0) clear the rest
// That is 11 integer slots and 8 fma for 8 codes: 2.375 a weight, against 6 of mask, convert, fma.
//
// A simdgroup has kRows rows and takes 8 blocks of each a step. Lane l has block l / 4, and of it the 32 bytes that hold
// groups 2 (l % 4) and the next: it decodes each scale and minimum once, with no other lane doing the same.
// 16-byte loads: rows begin at multiples of 16 bytes, as they do in a GGUF file.
#include "metal/arguments.h"

constant ushort kSimdgroups [[function_constant(0)]];
constant ushort kRows [[function_constant(1)]];
constant constexpr ushort kMostRows = 4;

using namespace soffit;

template <typename X, typename Y>
kernel void linear_q4_k_best(constant LinearArguments& arguments [[buffer(0)]],
                             device const uchar* weights [[buffer(1)]],
                             device const X* x [[buffer(2)]],
                             device Y* y [[buffer(3)]],
                             uint3 group [[threadgroup_position_in_grid]],
                             ushort lane [[thread_index_in_simdgroup]],
                             ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  const ushort pair = lane % 4;
  const uint blocks = arguments.cols / 256;
  const uint first_row = (group.x * kSimdgroups + simdgroup) * kRows;

  // Scales of groups 0 … 3 are the low six bits of their bytes; of groups 4 … 7 they are nibbles, of the minima high ones,
  // with two more bits on top of the bytes of groups 0 … 3.
  const bool upper = pair >= 2;
  const ushort word = pair % 2, nibbles = word + 4;
  const ushort scale_word = upper ? nibbles : word, minimum_word = upper ? nibbles : word + 2, shift = upper ? 4 : 0;
  const uint low_bits = upper ? 0x0f0f0f0fu : 0x3f3f3f3fu, top_bits = upper ? 0xc0c0c0c0u : 0u;

  float result[kMostRows] = {0.0f};
  for (uint block = lane / 4; block < blocks; block += 8) {
    device const X* activations = x + group.y * arguments.x_stride + block * 256 + pair * 64;
    X low[32], high[32];
    float low_start = 0.0f, high_start = 0.0f;
    for (ushort i = 0; i < 32; ++i) {
      low[i] = activations[i];
      high[i] = activations[i + 32];
      low_start -= 1024.0f * low[i];
      high_start -= 1024.0f * high[i];
    }
    for (ushort r = 0; r < kRows; ++r) {
      const uint row = min(first_row + r, arguments.rows - 1);  // rows behind the last read it again
      device const uchar* bytes = weights + row * arguments.row_bytes + block * 144;

      float low_sum = low_start, high_sum = high_start;
      for (ushort part = 0; part < 2; ++part) {
        const uint4 words = reinterpret_cast<device const uint4*>(bytes + 16 + 32 * pair)[part];
        for (ushort i = 0; i < 4; ++i) {
          const ushort first = part * 16 + i * 4;
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

      // Bytes: scale, scale, minimum, minimum. As halves they are 1024 too large as well; what takes that off also takes
      // the factors 2 and 32 off the sums, and -1024 off the starts that the minima are multiplied with.
      device const half* scale = reinterpret_cast<device const half*>(bytes);
      device const ushort* packed = reinterpret_cast<device const ushort*>(bytes + 4);
      const uint bits = as_type<uint>(ushort2(packed[scale_word], packed[minimum_word] >> shift)) & low_bits;
      const uint top = as_type<uint>(ushort2(packed[word], packed[word + 2])) & top_bits;
      const uint six_bits = bits | (top >> 2);
      const half2 first = as_type<half2>((six_bits & 0x003f003fu) | 0x64006400u);
      const half2 second = as_type<half2>(((six_bits >> 8) | 0x64006400u) & 0x643f643fu);
      const half low_scale = first.x * (1.0h / 2) - 512.0h, high_scale = second.x * (1.0h / 32) - 32.0h;
      const half low_minimum = 1.0h - first.y * (1.0h / 1024), high_minimum = 1.0h - second.y * (1.0h / 1024);
      result[r] += float(scale[0]) * (low_scale * low_sum + high_scale * high_sum);
      result[r] -= float(scale[1]) * (low_minimum * low_start + high_minimum * high_start);
    }
  }
  for (ushort r = 0; r < kRows; ++r) {
    const float sum = simd_sum(result[r]);
    if (lane == 0 && first_row + r < arguments.rows) y[group.y * arguments.y_stride + first_row + r] = Y(sum);
  }
}

template [[host_name("linear_q4_k_best_f32")]] kernel void linear_q4_k_best<float, float>(
    constant LinearArguments&, device const uchar*, device const float*, device float*, uint3, ushort, ushort);
template [[host_name("linear_q4_k_best_f16")]] kernel void linear_q4_k_best<half, half>(
    constant LinearArguments&, device const uchar*, device const half*, device half*, uint3, ushort, ushort);
