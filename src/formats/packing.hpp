// The bit packings that several formats share. Each is written once here, with its inverse.
#pragma once

#include <cstdint>

namespace soffit {

// Split halves: byte j of 16 holds element j in its low four bits and element j+16 in its high four.
inline int nibble(const uint8_t* qs, int i) { return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4; }
inline void set_nibbles(uint8_t* qs, const uint8_t* codes) {
  for (int j = 0; j < 16; ++j) qs[j] = uint8_t((codes[j] & 15) | (codes[j + 16] & 15) << 4);
}

// The fifth bits of 32 elements: element i is bit i of a little-endian 32-bit word.
inline int fifth_bit(const uint8_t* qh, int i) { return qh[i / 8] >> i % 8 & 1; }
inline void set_fifth_bits(uint8_t* qh, const uint8_t* codes) {
  for (int j = 0; j < 4; ++j) {
    int bits = 0;
    for (int i = 0; i < 8; ++i) bits |= (codes[j * 8 + i] >> 4 & 1) << i;
    qh[j] = uint8_t(bits);
  }
}

// Groups of 32 in pairs: of a pair's 32 bytes, byte j holds element j of the first group in its low four bits and of
// the second in its high four.
inline int paired_nibble(const uint8_t* qs, int i) { return qs[i / 64 * 32 + i % 32] >> i / 32 % 2 * 4 & 15; }
inline void set_paired_nibbles(uint8_t* qs, const uint8_t* codes) {  // 256 elements
  for (int j = 0; j < 128; ++j) {
    const uint8_t* pair = codes + j / 32 * 64 + j % 32;
    qs[j] = uint8_t((pair[0] & 15) | (pair[32] & 15) << 4);
  }
}

// Two bits an element, 128 elements in 32 bytes: element i is in byte i%32 of its 32, at bit 2*(i/32 % 4).
inline int two_bits(const uint8_t* qs, int i) { return qs[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3; }
inline void set_two_bits(uint8_t* qs, const uint8_t* codes) {  // 256 elements
  for (int j = 0; j < 64; ++j) {
    const uint8_t* first = codes + j / 32 * 128 + j % 32;
    qs[j] = uint8_t(first[0] | first[32] << 2 | first[64] << 4 | first[96] << 6);
  }
}

// Eight 6-bit scales and eight 6-bit minima in 12 bytes, s0…s7 and m0…m7:
//
//   byte  0…3   | s4…s7, upper 2 bits | s0…s3, 6 bits       |
//         4…7   | m4…m7, upper 2 bits | m0…m3, 6 bits       |
//         8…11  | m4…m7, lower 4 bits | s4…s7, lower 4 bits |
struct ScaleAndMinimum {
  int scale, minimum;  // 0…63
};
inline ScaleAndMinimum scale_and_minimum(const uint8_t* packed, int group) {
  if (group < 4) return {packed[group] & 63, packed[group + 4] & 63};
  const int low = packed[group + 4];
  return {(low & 15) | packed[group - 4] >> 6 << 4, low >> 4 | packed[group] >> 6 << 4};
}
inline void set_scales_and_minima(uint8_t* packed, const uint8_t* scales, const uint8_t* minima) {
  for (int g = 0; g < 4; ++g) {
    packed[g] = uint8_t(scales[g] | scales[g + 4] >> 4 << 6);
    packed[g + 4] = uint8_t(minima[g] | minima[g + 4] >> 4 << 6);
    packed[g + 8] = uint8_t((scales[g + 4] & 15) | (minima[g + 4] & 15) << 4);
  }
}

}  // namespace soffit
