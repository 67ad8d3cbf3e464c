// Tiles of the 256-column formats Q2_K to Q6_K. Scale bytes stay as the file packs them, four to a vector.
#pragma once

#include "cpu/tiles/tile.hpp"

namespace soffit::cpu {

// The 6-bit scales and minima of Q4_K and Q5_K from the three vectors of their 12 bytes (see formats/packing.hpp).
struct SixBitScales {
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V>
  static typename V::Floats minimum_factor(const uint8_t* t) {
    return V::halves(t + 32);
  }
  template <class V>
  struct Header {
    typename V::Bytes scale[2], minimum[2];
  };
  template <class V>
  static Header<V> header(const uint8_t* t) {
    const auto a = V::load(t + 64), b = V::load(t + 128), c = V::load(t + 192);
    return {{V::template and_<63>(a), V::template merge<15>(c, V::template and_<48>(V::template shr<2>(a)))},
            {V::template and_<63>(b),
             V::template merge<15>(V::template shr<4>(c), V::template and_<48>(V::template shr<2>(b)))}};
  }
  template <class V, int G>
  static typename V::Ints scale(const Header<V>& h) {
    return V::template byte<G % 4>(h.scale[G / 4]);
  }
  template <class V, int I>
  static typename V::Bytes minimum(const Header<V>& h) {
    return h.minimum[I];
  }
};

// Nibbles of Q4_K and Q5_K in the file: two groups of 32 share 32 bytes.
inline void put_file_nibbles(uint8_t* vectors, int row, const uint8_t* qs) {
  uint8_t code[256];
  for (int pair = 0; pair < 4; ++pair) split_nibbles(qs + 32 * pair, 32, code + 64 * pair);
  put_nibbles(vectors, row, 256, code);
}
inline void put_group_nibbles(uint8_t* qs, const uint8_t* vectors, int row) {
  for (int k = 0; k < 256; k += k % 32 == 31 ? 33 : 1)
    qs[k / 64 * 32 + k % 32] = uint8_t(get_nibble(vectors, row, k) | get_nibble(vectors, row, k + 32) << 4);
}

// byte 0 d[16] f16 | 32 dmin[16] f16 | 64 three vectors of scale bytes | 256 32 vectors of nibbles | 2304
struct TileQ4_K : Tile256<Q4_K>, SixBitScales, RawNibbles {
  static constexpr int kGroupColumns = 32, kMaxCode = 15;
  static constexpr bool kMinimum = true;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put16(t + 32, row, b.dmin);
    put_bytes(t + 64, row, b.scales, 12);
    put_file_nibbles(t + 256, row, b.qs);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    b.dmin = get16(t + 32, row);
    get_bytes(t + 64, row, b.scales, 12);
    put_group_nibbles(b.qs, t + 256, row);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return nibbles<V, S>(t + 256 + 256 * chunk);
  }
  template <class V, int S>
  static typename V::Bytes raw(const uint8_t* t, int chunk) {
    return raw_nibbles<V, S>(t + 256 + 256 * chunk);
  }
};

// byte 0 d[16] f16 | 32 dmin[16] f16 | 64 three vectors of scale bytes | 256 eight vectors of fifth bits | 768 32
// vectors of nibbles | 2816
struct TileQ5_K : Tile256<Q5_K>, SixBitScales {
  static constexpr int kGroupColumns = 32, kMaxCode = 31;
  static constexpr bool kMinimum = true;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put16(t + 32, row, b.dmin);
    put_bytes(t + 64, row, b.scales, 12);
    uint8_t fifth[256];
    split_bits(b.qh, fifth);
    put_bits(t + 256, row, 256, fifth);
    put_file_nibbles(t + 768, row, b.qs);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    b.dmin = get16(t + 32, row);
    get_bytes(t + 64, row, b.scales, 12);
    std::memset(b.qh, 0, sizeof b.qh);
    for (int k = 0; k < 256; ++k) b.qh[k % 32] = uint8_t(b.qh[k % 32] | get_bit(t + 256, row, k) << k / 32);
    put_group_nibbles(b.qs, t + 768, row);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return V::template merge<15>(low_nibbles<V, S>(t + 768 + 256 * chunk), bits<V, S, 4>(t + 256 + 64 * chunk));
  }
};

// byte 0 d[16] f16 | 32 four vectors of int8 scales | 288 16 vectors of high pairs | 1312 32 vectors of nibbles | 3360
struct TileQ6_K : Tile256<Q6_K> {
  static constexpr int kGroupColumns = 16, kMaxCode = 63, kBias = 32;
  // In each half of 128 columns 64 bytes of low nibbles, low halves first.
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put_bytes(t + 32, row, b.scales, 16);
    uint8_t high[256], low[256];
    split_pairs(b.qh, high);
    put_pairs(t + 288, row, 256, high);
    for (int half = 0; half < 2; ++half) split_nibbles(b.ql + 64 * half, 64, low + 128 * half);
    put_nibbles(t + 1312, row, 256, low);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    std::memset(&b, 0, sizeof b);
    b.d = get16(t, row);
    get_bytes(t + 32, row, b.scales, 16);
    for (int k = 0; k < 256; ++k) {
      const int h = k / 128, q = k / 32 % 4, l = k % 32;
      auto& lo = b.ql[64 * h + 32 * (q & 1) + l];
      lo = uint8_t(lo | get_nibble(t + 1312, row, k) << 4 * (q / 2));
      auto& hi = b.qh[32 * h + l];
      hi = uint8_t(hi | get_pair(t + 288, row, k) << 2 * q);
    }
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V>
  using Header = const uint8_t*;
  template <class V>
  static const uint8_t* header(const uint8_t* t) {
    return t;
  }
  template <class V, int G>
  static typename V::Ints scale(const uint8_t* t) {
    return V::template signed_byte<G % 4>(V::load(t + 32 + kVectorBytes * (G / 4)));
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return V::template merge<15>(low_nibbles<V, S>(t + 1312 + 256 * chunk), pairs<V, S, 4>(t + 288 + 128 * chunk));
  }
};

// Pairs of Q2_K and Q3_K in the file: halves of 128, four bit positions of 32 columns.

inline void put_half_pairs(uint8_t* qs, const uint8_t* vectors, int row) {
  std::memset(qs, 0, 64);
  for (int k = 0; k < 256; ++k) {
    auto& byte = qs[32 * (k / 128) + k % 32];
    byte = uint8_t(byte | get_pair(vectors, row, k) << 2 * (k / 32 % 4));
  }
}

// byte 0 d[16] f16 | 32 dmin[16] f16 | 64 four vectors of scale bytes | 320 16 vectors of pairs | 1344
struct TileQ2_K : Tile256<Q2_K> {
  static constexpr int kGroupColumns = 16, kMaxCode = 3;
  static constexpr bool kMinimum = true;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put16(t + 32, row, b.dmin);
    put_bytes(t + 64, row, b.scales, 16);
    uint8_t code[256];
    split_pairs(b.qs, code);
    put_pairs(t + 320, row, 256, code);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    b.dmin = get16(t + 32, row);
    get_bytes(t + 64, row, b.scales, 16);
    put_half_pairs(b.qs, t + 320, row);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V>
  static typename V::Floats minimum_factor(const uint8_t* t) {
    return V::halves(t + 32);
  }
  template <class V>
  using Header = const uint8_t*;
  template <class V>
  static const uint8_t* header(const uint8_t* t) {
    return t;
  }
  template <class V, int G>
  static typename V::Ints scale(const uint8_t* t) {
    return V::template byte<G % 4>(V::template and_<15>(V::load(t + 64 + kVectorBytes * (G / 4))));
  }
  template <class V, int I>
  static typename V::Bytes minimum(const uint8_t* t) {
    return V::template and_<15>(V::template shr<4>(V::load(t + 64 + kVectorBytes * I)));
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return pairs<V, S>(t + 320 + 128 * chunk);
  }
};

// byte 0 d[16] f16 | 32 three vectors of scale bytes | 224 eight vectors of high bits | 736 16 vectors of pairs | 1760
struct TileQ3_K : Tile256<Q3_K> {
  static constexpr int kGroupColumns = 16, kMaxCode = 7, kBias = 4;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put_bytes(t + 32, row, b.scales, 12);
    uint8_t high[256], low[256];
    split_bits(b.hmask, high);
    put_bits(t + 224, row, 256, high);
    split_pairs(b.qs, low);
    put_pairs(t + 736, row, 256, low);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    get_bytes(t + 32, row, b.scales, 12);
    std::memset(b.hmask, 0, sizeof b.hmask);
    for (int k = 0; k < 256; ++k) b.hmask[k % 32] = uint8_t(b.hmask[k % 32] | get_bit(t + 224, row, k) << k / 32);
    put_half_pairs(b.qs, t + 736, row);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V>
  struct Header {
    typename V::Bytes scale[4];
  };
  template <class V>
  static Header<V> header(const uint8_t* t) {
    const auto a = V::load(t + 32), b = V::load(t + 96), c = V::load(t + 160);
    return {{V::template merge<15>(a, V::template and_<48>(V::template shl<4>(c))),
             V::template merge<15>(b, V::template and_<48>(V::template shl<2>(c))),
             V::template merge<15>(V::template shr<4>(a), V::template and_<48>(c)),
             V::template merge<15>(V::template shr<4>(b), V::template and_<48>(V::template shr<2>(c)))}};
  }
  template <class V, int G>
  static typename V::Ints scale(const Header<V>& h) {
    return V::add(V::template byte<G % 4>(h.scale[G / 4]), V::ints(-32));
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return V::or_(pairs<V, S>(t + 736 + 128 * chunk), bits<V, S, 2>(t + 224 + 64 * chunk));
  }
};

}  // namespace soffit::cpu
