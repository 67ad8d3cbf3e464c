// Tiles: how repacked weights lie in memory. A tile holds 16 rows x one block of columns (256 or 32) in exactly the
// bytes of those 16 blocks, so that a vector register sees 16 rows side by side: lane = row, and the four bytes of a
// lane are four neighbouring columns, which is what the int8 dot product instructions add up. The 64 bytes of one such
// vector make one "vector" below.
//
// Columns are visited in steps of four: step s of a tile is columns 4s…4s+3. Steps come in chunks that a kernel
// unrolls. A tile type gives:
//   Reference              the format of src/formats that it holds
//   kChunks, kChunkSteps   chunks of a tile, steps of a chunk
//   kGroupColumns          columns that share a scale: 16, 32 or 256
//   kMaxCode, kBias        codes are 0…kMaxCode; a weight is (code - kBias) * scale of its group * factor
//   kMinimum               minimum of the group * minimum_factor is subtracted (kBias is 0 then)
//   kForm                  the form of activations that its int8 kernels read
//   kFor<V>                whether V takes its weights in this tile: one tile of a format is for each V
//   pack, unpack           one row's block into and out of a tile: the same bits in another order, so unpack is exact
//   packable               (optional) whether it is for this block
//   factor<V>, minimum_factor<V>  of 16 rows
//   Header<V>, header<V>   (several groups) what scales and minima are taken from, in registers
//   scale<V, G>            (several groups) the integer scales of group G
//   minimum<V, I>          (several groups) the integer minima of groups 4I…4I+3, one a byte of each lane
//   codes<V, S>            the codes of step S of a chunk as 64 bytes
//   raw<V, S>              (optional) the same, shifted left by raw_shift(S % kRawClasses): where the dot product takes
//                          any byte, a sum per class is shifted back instead of every code
// where V is an instruction set of vector_*.hpp.
#pragma once

#include <bit>
#include <cstring>

#include "cpu/activations.hpp"
#include "cpu/tiles/codes.hpp"
#include "formats/formats.hpp"

namespace soffit::cpu {

inline constexpr int kTileRows = 16;
inline constexpr int kVectorBytes = 64;

// Byte `byte` (of four) of row `row` in the vector at `vector`.
inline uint8_t& at(uint8_t* vector, int row, int byte) { return vector[4 * row + byte]; }
inline uint8_t at(const uint8_t* vector, int row, int byte) { return vector[4 * row + byte]; }

inline void put16(uint8_t* to, int row, uint16_t value) { std::memcpy(to + 2 * row, &value, 2); }
inline uint16_t get16(const uint8_t* from, int row) {
  uint16_t value;
  std::memcpy(&value, from + 2 * row, 2);
  return value;
}

// `count` bytes of a row, four to a vector.
inline void put_bytes(uint8_t* vectors, int row, const void* bytes, int count) {
  for (int i = 0; i < count; i += 4)
    std::memcpy(vectors + kVectorBytes * (i / 4) + 4 * row, static_cast<const uint8_t*>(bytes) + i, 4);
}
inline void get_bytes(const uint8_t* vectors, int row, void* bytes, int count) {
  for (int i = 0; i < count; i += 4)
    std::memcpy(static_cast<uint8_t*>(bytes) + i, vectors + kVectorBytes * (i / 4) + 4 * row, 4);
}

// Four neighbouring columns of a row, a code a byte.
inline uint32_t four_codes(const uint8_t* code) {
  uint32_t word;
  std::memcpy(&word, code, 4);
  return word;
}
inline void put_word(uint8_t* vector, int row, uint32_t word) { std::memcpy(vector + 4 * row, &word, 4); }

// Nibbles of a row: column k in step s = k / 4 is in vector s / 2, in the low half of the byte for even steps. `code`
// has a code a column, below 16.
inline void put_nibbles(uint8_t* vectors, int row, int columns, const uint8_t* code) {
  for (int k = 0; k < columns; k += 8)
    put_word(vectors + kVectorBytes * (k / 8), row, four_codes(code + k) | four_codes(code + k + 4) << 4);
}
inline int get_nibble(const uint8_t* vectors, int row, int k) {
  return at(vectors + kVectorBytes * (k / 8), row, k % 4) >> 4 * (k / 4 % 2) & 15;
}
template <class V, int S>
typename V::Bytes nibbles(const uint8_t* vectors) {
  const auto v = V::load(vectors + kVectorBytes * (S / 2));
  if constexpr (S % 2 == 0)
    return V::template and_<15>(v);
  else
    return V::template and_<15>(V::template shr<4>(v));
}
// The nibble in the low half of each byte, anything in the high half.
template <class V, int S>
typename V::Bytes low_nibbles(const uint8_t* vectors) {
  const auto v = V::load(vectors + kVectorBytes * (S / 2));
  if constexpr (S % 2 == 0)
    return v;
  else
    return V::template shr<4>(v);
}
// The nibble where it is.
template <class V, int S>
typename V::Bytes raw_nibbles(const uint8_t* vectors) {
  return V::template and_ < S % 2 ? 0xF0 : 15 > (V::load(vectors + kVectorBytes * (S / 2)));
}

// Two bits a column: column k of step s is in vector s / 4, at bit 2 * (s % 4).
inline void put_pairs(uint8_t* vectors, int row, int columns, const uint8_t* code) {
  for (int k = 0; k < columns; k += 16)
    put_word(vectors + kVectorBytes * (k / 16), row,
             four_codes(code + k) | four_codes(code + k + 4) << 2 | four_codes(code + k + 8) << 4 |
                 four_codes(code + k + 12) << 6);
}
inline int get_pair(const uint8_t* vectors, int row, int k) {
  return at(vectors + kVectorBytes * (k / 16), row, k % 4) >> 2 * (k / 4 % 4) & 3;
}
// The pair of step S moved to bit `To`, the other bits cleared.
template <class V, int S, int To = 0>
typename V::Bytes pairs(const uint8_t* vectors) {
  return V::template move_bits<2 * (S % 4), To, 2>(V::load(vectors + kVectorBytes * (S / 4)));
}
template <class V, int S>
typename V::Bytes raw_pairs(const uint8_t* vectors) {
  return V::template and_<(3 << 2 * (S % 4))>(V::load(vectors + kVectorBytes * (S / 4)));
}

// One bit a column: 32 columns are one vector, step s at bit s.
inline void put_bits(uint8_t* vectors, int row, int columns, const uint8_t* code) {
  for (int k = 0; k < columns; k += 32) {
    uint32_t word = 0;
    for (int s = 0; s < 8; ++s) word |= four_codes(code + k + 4 * s) << s;
    put_word(vectors + kVectorBytes * (k / 32), row, word);
  }
}
inline int get_bit(const uint8_t* vectors, int row, int k) {
  return at(vectors + kVectorBytes * (k / 32), row, k % 4) >> (k / 4 % 8) & 1;
}
template <class V, int S, int To>
typename V::Bytes bits(const uint8_t* vector) {
  return V::template move_bits<S, To, 1>(V::load(vector));
}

// Nibbles are split into two classes, pairs into four.
struct RawNibbles {
  static constexpr int kRawClasses = 2;
  static constexpr int raw_shift(int c) { return 4 * c; }
};
struct RawPairs {
  static constexpr int kRawClasses = 4;
  static constexpr int raw_shift(int c) { return 2 * c; }
};
template <class Tile>
concept HasRaw = requires {
  Tile::kRawClasses;
};

// The defaults of a tile of 256 and of 32 columns.
template <class F>
struct Tile256 {
  using Reference = F;
  using Block = typename F::Block;
  static constexpr int kColumns = 256, kChunks = 8, kChunkSteps = 8, kBytes = kTileRows * int(sizeof(Block));
  static constexpr int kBias = 0;
  static constexpr bool kMinimum = false;
  static constexpr ActivationForm kForm = ActivationForm::int8_256;
  template <class V>
  static constexpr bool kFor = true;
};
template <class F>
struct Tile32 : Tile256<F> {
  static constexpr int kColumns = 32, kChunks = 1, kGroupColumns = 32;
  static constexpr ActivationForm kForm = ActivationForm::int8_32;
};

}  // namespace soffit::cpu
