// Tiles of the 32-column formats Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL and MXFP4.
#pragma once

#include "cpu/tiles/tile.hpp"

namespace soffit::cpu {

// byte 0 d[16] f16 | 32 four vectors of nibbles | 288
struct TileQ4_0 : Tile32<Q4_0>, RawNibbles {
  static constexpr int kMaxCode = 15, kBias = 8;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    uint8_t code[32];
    split_nibbles(b.qs, 16, code);
    put_nibbles(t + 32, row, 32, code);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    for (int j = 0; j < 16; ++j) b.qs[j] = uint8_t(get_nibble(t + 32, row, j) | get_nibble(t + 32, row, j + 16) << 4);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int) {
    return nibbles<V, S>(t + 32);
  }
  template <class V, int S>
  static typename V::Bytes raw(const uint8_t* t, int) {
    return raw_nibbles<V, S>(t + 32);
  }
};

// byte 0 d[16] f16 | 32 m[16] f16 | 64 four vectors of nibbles | 320.  The "minimum" of the kernels is -m.
struct TileQ4_1 : Tile32<Q4_1>, RawNibbles {
  static constexpr int kMaxCode = 15;
  static constexpr bool kMinimum = true;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put16(t + 32, row, b.m);
    uint8_t code[32];
    split_nibbles(b.qs, 16, code);
    put_nibbles(t + 64, row, 32, code);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    b.m = get16(t + 32, row);
    for (int j = 0; j < 16; ++j) b.qs[j] = uint8_t(get_nibble(t + 64, row, j) | get_nibble(t + 64, row, j + 16) << 4);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V>
  static typename V::Floats minimum_factor(const uint8_t* t) {
    return V::negate(V::halves(t + 32));
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int) {
    return nibbles<V, S>(t + 64);
  }
  template <class V, int S>
  static typename V::Bytes raw(const uint8_t* t, int) {
    return raw_nibbles<V, S>(t + 64);
  }
};

inline void gather32(uint8_t* qh, const uint8_t* vector, int row) {
  std::memset(qh, 0, 4);
  for (int i = 0; i < 32; ++i) qh[i / 8] = uint8_t(qh[i / 8] | get_bit(vector, row, i) << i % 8);
}

// byte 0 d[16] f16 | 32 one vector of fifth bits | 96 four vectors of nibbles | 352
struct TileQ5_0 : Tile32<Q5_0> {
  static constexpr int kMaxCode = 31, kBias = 16;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    uint8_t fifth[32];
    split_word(b.qh, fifth);
    put_bits(t + 32, row, 32, fifth);
    uint8_t code[32];
    split_nibbles(b.qs, 16, code);
    put_nibbles(t + 96, row, 32, code);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    gather32(b.qh, t + 32, row);
    for (int j = 0; j < 16; ++j) b.qs[j] = uint8_t(get_nibble(t + 96, row, j) | get_nibble(t + 96, row, j + 16) << 4);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int) {
    return V::template merge<15>(low_nibbles<V, S>(t + 96), bits<V, S, 4>(t + 32));
  }
};

// byte 0 d[16] f16 | 32 m[16] f16 | 64 one vector of fifth bits | 128 four vectors of nibbles | 384
struct TileQ5_1 : Tile32<Q5_1> {
  static constexpr int kMaxCode = 31;
  static constexpr bool kMinimum = true;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put16(t + 32, row, b.m);
    uint8_t fifth[32];
    split_word(b.qh, fifth);
    put_bits(t + 64, row, 32, fifth);
    uint8_t code[32];
    split_nibbles(b.qs, 16, code);
    put_nibbles(t + 128, row, 32, code);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    b.m = get16(t + 32, row);
    gather32(b.qh, t + 64, row);
    for (int j = 0; j < 16; ++j) b.qs[j] = uint8_t(get_nibble(t + 128, row, j) | get_nibble(t + 128, row, j + 16) << 4);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V>
  static typename V::Floats minimum_factor(const uint8_t* t) {
    return V::negate(V::halves(t + 32));
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int) {
    return V::template merge<15>(low_nibbles<V, S>(t + 128), bits<V, S, 4>(t + 64));
  }
};

// byte 0 d[16] f16 | 32 eight vectors of q + 128 | 544
struct TileQ8_0 : Tile32<Q8_0> {
  static constexpr int kMaxCode = 255, kBias = 128;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    for (int k = 0; k < 32; k += 4)
      put_word(t + 32 + kVectorBytes * (k / 4), row,
               four_codes(reinterpret_cast<const uint8_t*>(b.qs) + k) ^ 0x80808080);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    for (int k = 0; k < 32; ++k) b.qs[k] = int8_t(at(t + 32 + kVectorBytes * (k / 4), row, k % 4) ^ 0x80);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int) {
    return V::load(t + 32 + kVectorBytes * S);
  }
};

// A code's value + 128, so that it is not negative.
struct Iq4Table {
  alignas(16) uint8_t value[16];
  constexpr Iq4Table() : value{} {
    for (int i = 0; i < 16; ++i) value[i] = uint8_t(kIq4Values[i] + 128);
  }
};
inline constexpr Iq4Table kIq4Table;

// byte 0 d[16] f16 | 32 four vectors of nibbles | 288
struct TileIQ4_NL : Tile32<IQ4_NL> {
  static constexpr int kMaxCode = 255, kBias = 128;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    uint8_t code[32];
    split_nibbles(b.qs, 16, code);
    put_nibbles(t + 32, row, 32, code);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    for (int j = 0; j < 16; ++j) b.qs[j] = uint8_t(get_nibble(t + 32, row, j) | get_nibble(t + 32, row, j + 16) << 4);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int) {
    return V::lookup(low_nibbles<V, S>(t + 32), kIq4Table.value);
  }
};

// Twice an E2M1 value + 16.
struct E2m1Table {
  alignas(16) uint8_t value[16];
  constexpr E2m1Table() : value{} {
    for (int i = 0; i < 16; ++i) value[i] = uint8_t(kE2m1Doubled[i] + 16);
  }
};
inline constexpr E2m1Table kE2m1Table;

// byte 0 e[16] | 16 four vectors of nibbles | 272
struct TileMXFP4 : Tile32<MXFP4> {
  static constexpr int kMaxCode = 28, kBias = 16;
  static void pack(const Block& b, int row, uint8_t* t) {
    t[row] = b.e;
    uint8_t code[32];
    split_nibbles(b.qs, 16, code);
    put_nibbles(t + 16, row, 32, code);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.e = t[row];
    for (int j = 0; j < 16; ++j) b.qs[j] = uint8_t(get_nibble(t + 16, row, j) | get_nibble(t + 16, row, j + 16) << 4);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::half_powers(t);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int) {
    return V::lookup(low_nibbles<V, S>(t + 16), kE2m1Table.value);
  }
};

}  // namespace soffit::cpu
