// What every vector_*.hpp offers: 16 rows side by side, in whatever registers the instruction set has.
//
//   Bytes   64 bytes: four columns of each of 16 rows (see tiles/tile.hpp)
//   Ints    16 x int32      Floats   16 x fp32
//   Partial<kMaxCode>  sums of code * q over a group, for int8 q and codes 0…kMaxCode; exact
//
//   Four    four activations for all rows, read once where several sums take them
//   transpose  16 x 16 floats
//   merge<M>(a, b)     (a & M) | b
//   move_bits<From, To, Count>(a)  those bits of each byte, the others cleared
//   lookup(a, table)   a table of 16 bytes by the low four bits of each byte
//
// kRawCodes: the dot product takes any byte, and codes that are shifted left as they are (see tiles/tile.hpp).
// kUnrolledTokens: up to so many tokens a whole tile is unrolled. kSignedCodes: the dot product of codes up to 255
// takes them as code - 128, so that no bias is to be corrected for them. kColumns: columns that a decode kernel takes
// at once (1, 2, 4 or 8).  kPanelTiles x kPanelColumns: what a prefill micro-kernel holds in registers.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace soffit::cpu {

// Calls f(integral_constant<int, 0>) … f(integral_constant<int, N - 1>).
template <int N, class F>
[[gnu::always_inline]] inline void unroll(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

struct VectorCommon {
  template <class F>
  [[gnu::always_inline]] static void for_each_byte(F&& f) {
    unroll<4>(f);
  }
};

template <class V>
struct TransposeInMemory : VectorCommon {
  // Lane i of v[j] to to[i * stride + j].
  template <class Floats>
  static void transpose(const Floats* v, float* to, int stride) {
    float lanes[16][16];
    for (int j = 0; j < 16; ++j) V::store(lanes[j], v[j]);
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) to[i * stride + j] = lanes[j][i];
  }
};

// Steps of four columns whose sum fits 16 bits: each adds at most 2 * kMaxCode * 127 to a 16-bit lane of vpmaddubsw.
template <int kMaxCode>
inline constexpr int kStepsIn16Bits = 32767 / (2 * kMaxCode * 127);

// Five ternary digits in a byte so that 64-entry byte tables undo it. With r = t0 + 3 t1 + 9 t2:
//   r < 21   byte = t3 << 6 | (21 t4 + r)
//   else     byte = 0xC0    | (21 t4 + 3 (r - 21) + t3)
constexpr uint8_t ternary_code(uint8_t t0, uint8_t t1, uint8_t t2, uint8_t t3, uint8_t t4) {
  const auto r = uint8_t(t0 + 3 * t1 + 9 * t2), last = uint8_t(21 * t4);
  const auto small = uint8_t((t3 << 6) + last + r), large = uint8_t(0xC0 + last + 3 * (r - 21) + t3);
  return r < 21 ? small : large;
}
// By the low six bits of a byte: t0, t1, t2 as pairs of bits from bit 0 on, and in bits 6 and 7 what turns the byte's
// own upper two into t3 by exclusive or; `small` for r < 21, `large` for the bytes from 0xC0 on. `last` is t4.
struct TernaryTables {
  alignas(64) uint8_t small[64], large[64], last[64];
  constexpr TernaryTables() : small{}, large{}, last{} {
    for (int i = 0; i < 63; ++i) {
      const int r = i % 21, r_large = 21 + r / 3;
      small[i] = uint8_t(r % 3 | r / 3 % 3 << 2 | r / 9 << 4);
      if (r < 18) large[i] = uint8_t(r_large % 3 | r_large / 3 % 3 << 2 | r_large / 9 << 4 | (r % 3 ^ 3) << 6);
      last[i] = uint8_t(i / 21);
    }
  }
};
inline constexpr TernaryTables kTernary;

}  // namespace soffit::cpu
