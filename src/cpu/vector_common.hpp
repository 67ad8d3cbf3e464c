// What every vector_*.hpp offers: 16 rows side by side, in whatever registers the instruction set has.
//
//   Bytes   64 bytes: four columns of each of 16 rows (see tiles/tile.hpp)
//   Ints    16 x int32      Floats   16 x fp32
//   Partial<kMaxCode>  sums of code * q over a group, for int8 q and codes 0…kMaxCode; exact
//
// kSignedCodes: the dot product of codes up to 255 takes them as code - 128, so that no bias is to be corrected for
// them. kColumns: columns that a decode kernel takes at once.  kPanelTiles x kPanelColumns: what a prefill micro-kernel
// holds in registers.
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
  template <class F>
  [[gnu::always_inline]] static void for_each_group(F&& f) {
    unroll<8>(f);
  }
};

// Steps of four columns whose sum fits 16 bits: each adds at most 2 * kMaxCode * 127 to a 16-bit lane of vpmaddubsw.
template <int kMaxCode>
inline constexpr int kStepsIn16Bits = 32767 / (2 * kMaxCode * 127);

inline constexpr int kPowersOf3[6] = {1, 3, 9, 27, 81, 243};

}  // namespace soffit::cpu
