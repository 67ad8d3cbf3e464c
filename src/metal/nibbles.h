// Codes of four and five bits times activations, without converting them to float: as halves of 1024 and something, see
// linear_q4_k_best.metal.
#ifndef SOFFIT_METAL_NIBBLES_H
#define SOFFIT_METAL_NIBBLES_H

#include <metal_stdlib>
using namespace metal;

namespace soffit {

// The four bytes of a word: their low nibbles as 1024 + 2 code, the high ones as 1024 + 32 code. 11 integer slots, 8
// fma.
template <typename X>
inline void add_nibbles(uint word, thread const X* low, thread const X* high, thread float& low_sum,
                        thread float& high_sum) {
  const uint even = (word + word) | 0x64006400u, odd = (word >> 7) | 0x64006400u;
  const half2 even_low = as_type<half2>(even & 0x641e641eu), odd_low = as_type<half2>(odd & 0x641e641eu);
  const half2 even_high = as_type<half2>(even & 0x65e065e0u), odd_high = as_type<half2>(odd & 0x65e065e0u);
  low_sum += float(even_low.x) * low[0];
  low_sum += float(odd_low.x) * low[1];
  low_sum += float(even_low.y) * low[2];
  low_sum += float(odd_low.y) * low[3];
  high_sum += float(even_high.x) * high[0];
  high_sum += float(odd_high.x) * high[1];
  high_sum += float(even_high.y) * high[2];
  high_sum += float(odd_high.y) * high[3];
}

// Eight bytes with nibbles of 16 codes, whose fifth bits are the bytes `low_bits` and `high_bits`: 1024 + 16 code. Bits
// come to their place, 8, one after the other by doubling, the last one first. For two codes that is an addition, an
// and and two or, beside the 6 slots for four bytes that bring the low nibbles up: 2.75 integer slots and an fma a
// code.
template <typename X>
inline float with_five_bits(float sum, uint2 words, uchar low_bits, uchar high_bits, thread const X* low,
                            thread const X* high) {
  uint fifth = as_type<uint>(ushort2(low_bits, high_bits));
  for (ushort word = 2; word-- > 0;) {
    const uchar4 lows = as_type<uchar4>((words[word] << 4) & 0xf0f0f0f0u);
    const uchar4 highs = as_type<uchar4>(words[word] & 0xf0f0f0f0u);
    for (ushort i = 4; i-- > 0;) {
      fifth += fifth;
      const uint nibbles = as_type<uint>(ushort2(lows[i], highs[i])) | 0x64006400u;
      const half2 codes = as_type<half2>(nibbles | (fifth & 0x01000100u));
      sum += float(codes.x) * low[4 * word + i];
      sum += float(codes.y) * high[4 * word + i];
    }
  }
  return sum;
}

}  // namespace soffit

#endif  // SOFFIT_METAL_NIBBLES_H
