// Tiles of TQ1_0 and TQ2_0.
#pragma once

#include "cpu/tiles/tile.hpp"
#include "cpu/vector_common.hpp"

namespace soffit::cpu {

// byte 0 d[16] f16 | 32 16 vectors of pairs | 1056
struct TileTQ2_0 : Tile256<TQ2_0>, RawPairs {
  static constexpr int kGroupColumns = 256, kMaxCode = 3, kBias = 1;
  static int code(const Block& b, int k) { return b.qs[32 * (k / 128) + k % 32] >> 2 * (k / 32 % 4) & 3; }
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put_pairs(t + 32, row, 256, [&](int k) { return code(b, k); });
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    std::memset(&b, 0, sizeof b);
    b.d = get16(t, row);
    for (int k = 0; k < 256; ++k) {
      auto& byte = b.qs[32 * (k / 128) + k % 32];
      byte = uint8_t(byte | get_pair(t + 32, row, k) << 2 * (k / 32 % 4));
    }
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return pairs<V, S>(t + 32 + 128 * chunk);
  }
  template <class V, int S>
  static typename V::Bytes raw(const uint8_t* t, int chunk) {
    return raw_pairs<V, S>(t + 32 + 128 * chunk);
  }
};

// byte 0 d[16] f16 | 32 13 vectors of five digits a byte | 864
// Vector z holds steps 5z…5z+4, byte c of a lane their columns 20z + 4n + c; the last vector's fifth digit is 0 and
// adds nothing. Bytes that no encoder writes (13 values; a fifth digit in qh) decode like others, but unpack() gives
// the canonical ones back: packable() tells such blocks, and their rows stay as they are in the file.
struct TileTQ1_0 : Tile256<TQ1_0> {
  static constexpr int kChunks = 13, kChunkSteps = 5;
  static constexpr int kGroupColumns = 256, kMaxCode = 2, kBias = 1;

  static int digit(const Block& b, int k) {
    int byte, n;
    if (k < 160)
      byte = b.qs[k % 32], n = k / 32;
    else if (k < 240)
      byte = b.qs[32 + (k - 160) % 16], n = (k - 160) / 16;
    else
      byte = b.qh[(k - 240) % 4], n = (k - 240) / 4;
    for (; n > 0; --n) byte = byte * 3 & 255;
    return byte * 3 >> 8;
  }
  // Five digits, the first the most significant, as ceil(256 x / 243).
  static uint8_t encode(const int* digits) {
    int x = 0;
    for (int n = 0; n < 5; ++n) x = 3 * x + digits[n];
    return uint8_t((256 * x + 242) / 243);
  }
  static int decode(uint8_t byte, int n) {
    int b = byte;
    for (; n > 0; --n) b = b * 3 & 255;
    return b * 3 >> 8;
  }
  static bool canonical(uint8_t byte, int count) {
    int digits[5] = {};
    for (int n = 0; n < count; ++n) digits[n] = decode(byte, n);
    return encode(digits) == byte;
  }
  static bool packable(const Block& b) {
    bool all = true;
    for (uint8_t byte : b.qs) all &= canonical(byte, 5);
    for (uint8_t byte : b.qh) all &= canonical(byte, 4);
    return all;
  }
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    int digits[260] = {};
    for (int k = 0; k < 256; ++k) digits[k] = digit(b, k);
    for (int z = 0; z < 13; ++z)
      for (int c = 0; c < 4; ++c) {
        const int five[5] = {digits[20 * z + c], digits[20 * z + 4 + c], digits[20 * z + 8 + c],
                             digits[20 * z + 12 + c], digits[20 * z + 16 + c]};
        at(t + 32 + kVectorBytes * z, row, c) = ternary_code(five);
      }
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    const auto column = [&](int k) {
      const uint8_t byte = at(t + 32 + kVectorBytes * (k / 20), row, k % 4);
      const int n = k % 20 / 4, digits = (byte >= 0xC0 ? kTernary.large : kTernary.small)[byte & 63] ^ (byte & 0xC0);
      return n == 4 ? int(kTernary.last[byte & 63]) : digits >> 2 * n & 3;
    };
    const auto region = [&](uint8_t* to, int bytes, int digits, int first) {
      for (int j = 0; j < bytes; ++j) {
        int five[5] = {};
        for (int n = 0; n < digits; ++n) five[n] = column(first + n * bytes + j);
        to[j] = encode(five);
      }
    };
    region(b.qs, 32, 5, 0);
    region(b.qs + 32, 16, 5, 160);
    region(b.qh, 4, 4, 240);
  }
  template <class V>
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return V::template digit<S>(V::load(t + 32 + kVectorBytes * chunk));
  }
  // Digits stay where the tables have them; the fifth comes alone.
  static constexpr int kRawClasses = 5;
  static constexpr int raw_shift(int c) { return c == 4 ? 0 : 2 * c; }
  template <class V, int S>
  static typename V::Bytes raw(const uint8_t* t, int chunk) {
    return V::template raw_digit<S>(V::load(t + 32 + kVectorBytes * chunk));
  }
};

}  // namespace soffit::cpu
