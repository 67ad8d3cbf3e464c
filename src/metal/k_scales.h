// The 6-bit scales and minima of Q4_K and Q5_K, for two neighbouring groups at once, without a conversion to float.
#ifndef SOFFIT_METAL_K_SCALES_H
#define SOFFIT_METAL_K_SCALES_H

#include <metal_stdlib>
using namespace metal;

namespace soffit {

// As halves they are 1024 too large: 1024 + scale, 1024 + minimum.
struct PairOfScales {
  half2 first, second;  // x: scale, y: minimum
};

// Of groups 2 pair and the next; `packed` are the 12 bytes. Scales of groups 0 … 3 are the low six bits of their bytes;
// of groups 4 … 7 they are nibbles, of the minima high ones, with two more bits on top of the bytes of groups 0 … 3.
inline PairOfScales pair_of_scales(device const ushort* packed, ushort pair) {
  const bool upper = pair >= 2;
  const ushort word = pair % 2, nibbles = word + 4;
  const ushort scale_word = upper ? nibbles : word, minimum_word = upper ? nibbles : word + 2, shift = upper ? 4 : 0;
  const uint low_bits = upper ? 0x0f0f0f0fu : 0x3f3f3f3fu, top_bits = upper ? 0xc0c0c0c0u : 0u;

  const uint bits = as_type<uint>(ushort2(packed[scale_word], packed[minimum_word] >> shift)) & low_bits;
  const uint top = as_type<uint>(ushort2(packed[word], packed[word + 2])) & top_bits;
  const uint six_bits = bits | (top >> 2);  // scale, scale, minimum, minimum
  PairOfScales scales;
  scales.first = as_type<half2>((six_bits & 0x003f003fu) | 0x64006400u);
  scales.second = as_type<half2>(((six_bits >> 8) | 0x64006400u) & 0x643f643fu);
  return scales;
}

}  // namespace soffit

#endif  // SOFFIT_METAL_K_SCALES_H
