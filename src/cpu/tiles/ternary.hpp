// Tiles of TQ1_0 and TQ2_0.
#pragma once

#include "cpu/tiles/tile.hpp"
#include "cpu/vector_common.hpp"

namespace soffit::cpu {

// byte 0 d[16] f16 | 32 16 vectors of pairs | 1056
struct TileTQ2_0 : Tile256<TQ2_0>, RawPairs {
  static constexpr int kGroupColumns = 256, kMaxCode = 3, kBias = 1;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    uint8_t code[256];
    split_pairs(b.qs, code);
    put_pairs(t + 32, row, 256, code);
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

// Five ternary digits in a byte, the first the most significant: as the number x itself.
struct NumberCode {
  static uint8_t encode(const uint8_t* digits) {
    int x = 0;
    for (int n = 0; n < 5; ++n) x = 3 * x + digits[n];
    return uint8_t(x);
  }
  static int digit(uint8_t byte, int n) {
    constexpr int kPlaces[] = {81, 27, 9, 3, 1};
    return byte / kPlaces[n] % 3;
  }
};
// As GGUF has it: ceil(256 x / 243).
struct FractionCode {
  static uint8_t encode(const uint8_t* digits) { return uint8_t((256 * NumberCode::encode(digits) + 242) / 243); }
  static int digit(uint8_t byte, int n) {
    int b = byte;
    for (; n > 0; --n) b = b * 3 & 255;
    return b * 3 >> 8;
  }
};
// So that byte tables of 64 entries undo it: see ternary_code.
struct TableCode {
  static uint8_t encode(const uint8_t* t) { return ternary_code(t[0], t[1], t[2], t[3], t[4]); }
  static int digit(uint8_t byte, int n) {
    const int digits = (byte >= 0xC0 ? kTernary.large : kTernary.small)[byte & 63] ^ (byte & 0xC0);
    return n == 4 ? int(kTernary.last[byte & 63]) : digits >> 2 * n & 3;
  }
};

// byte 0 d[16] f16 | 32 13 vectors of five digits a byte | 864
// Vector z holds steps 5z…5z+4, byte c of a lane their columns 20z + 4n + c; the last vector's fifth digit is 0 and
// adds nothing. Bytes that no encoder writes (13 values; a fifth digit in qh) decode like others, but unpack() gives
// the canonical ones back: packable() tells such blocks, and their rows stay as they are in the file.
template <class Code>
struct TernaryTile : Tile256<TQ1_0> {
  static constexpr int kChunks = 13, kChunkSteps = 5;
  static constexpr int kGroupColumns = 256, kMaxCode = 2, kBias = 1;

  static bool canonical(uint8_t byte, int count) {
    uint8_t digits[5] = {};
    for (int n = 0; n < count; ++n) digits[n] = uint8_t(FractionCode::digit(byte, n));
    return FractionCode::encode(digits) == byte;
  }
  // Whether bytes of five and of four digits are canonical.
  struct Canonical {
    bool five[256], four[256];
    Canonical() {
      for (int i = 0; i < 256; ++i) five[i] = canonical(uint8_t(i), 5), four[i] = canonical(uint8_t(i), 4);
    }
  };
  static bool packable(const Block& b) {
    static const Canonical kCanonical;
    bool all = true;
    for (uint8_t byte : b.qs) all &= kCanonical.five[byte];
    for (uint8_t byte : b.qh) all &= kCanonical.four[byte];
    return all;
  }
  // The digits of `bytes` bytes, the first digits of all first.
  static uint8_t* split_digits(const uint8_t* from, int bytes, int digits, uint8_t* to) {
    uint8_t rest[32];
    std::memcpy(rest, from, size_t(bytes));
    for (int n = 0; n < digits; ++n, to += bytes)
      for (int j = 0; j < bytes; ++j) {
        const auto product = uint16_t(rest[j] * 3);
        to[j] = uint8_t(product >> 8);
        rest[j] = uint8_t(product);
      }
    return to;
  }
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    uint8_t digits[260] = {}, code[52];
    split_digits(b.qh, 4, 4, split_digits(b.qs + 32, 16, 5, split_digits(b.qs, 32, 5, digits)));
    for (int z = 0; z < 13; ++z)
      for (int c = 0; c < 4; ++c) {
        const uint8_t* first = digits + 20 * z + c;
        const uint8_t five[5] = {first[0], first[4], first[8], first[12], first[16]};
        code[4 * z + c] = Code::encode(five);
      }
    put_bytes(t + 32, row, code, 52);
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    const auto column = [&](int k) {
      return uint8_t(Code::digit(at(t + 32 + kVectorBytes * (k / 20), row, k % 4), k % 20 / 4));
    };
    const auto region = [&](uint8_t* to, int bytes, int digits, int first) {
      for (int j = 0; j < bytes; ++j) {
        uint8_t five[5] = {};
        for (int n = 0; n < digits; ++n) five[n] = column(first + n * bytes + j);
        to[j] = FractionCode::encode(five);
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
};

// Where a register looks up 64 bytes at once.
struct TileTQ1_0 : TernaryTile<TableCode> {
  template <class V>
  static constexpr bool kFor = V::kTernaryTables;
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

// Where products of 16 bits are cheaper; see linear_telescoped-inl.hpp.
struct TileTQ1_0Numbers : TernaryTile<NumberCode> {
  template <class V>
  static constexpr bool kFor = !V::kTernaryTables;
  static constexpr bool kTelescoped = true;
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return V::template number_digit<S>(V::load(t + 32 + kVectorBytes * chunk));
  }
};

}  // namespace soffit::cpu
