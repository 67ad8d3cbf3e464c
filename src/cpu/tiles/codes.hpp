// The packed codes of a block in the file, one a byte, in the order of the columns. Loops that compilers turn into
// vectors: a model is packed when it is loaded.
#pragma once

#include <cstdint>
#include <cstring>

namespace soffit::cpu {

// `bytes` bytes: the low nibbles, then the high ones.
inline void split_nibbles(const uint8_t* from, int bytes, uint8_t* code) {
  for (int j = 0; j < bytes; ++j) code[j] = from[j] & 15;
  for (int j = 0; j < bytes; ++j) code[bytes + j] = from[j] >> 4;
}
// 64 bytes: in each half of 32, the low pairs first.
inline void split_pairs(const uint8_t* from, uint8_t* code) {
  for (int half = 0; half < 2; ++half, from += 32)
    for (int shift = 0; shift < 8; shift += 2, code += 32)
      for (int j = 0; j < 32; ++j) code[j] = from[j] >> shift & 3;
}
// 32 bytes: the low bits first.
inline void split_bits(const uint8_t* from, uint8_t* code) {
  for (int shift = 0; shift < 8; ++shift, code += 32)
    for (int j = 0; j < 32; ++j) code[j] = from[j] >> shift & 1;
}
// Four bytes, bit after bit.
inline void split_word(const uint8_t* from, uint8_t* code) {
  for (int j = 0; j < 32; ++j) code[j] = from[j / 8] >> j % 8 & 1;
}

}  // namespace soffit::cpu
