// The tile of IQ4_XS.
#pragma once

#include "cpu/tiles/legacy.hpp"

namespace soffit::cpu {

// byte 0 d[16] f16 | 32 scales_h[16] u16 | 64 one vector of scales_l | 128 32 vectors of nibbles | 2176
struct TileIQ4_XS : Tile256<IQ4_XS> {
  static constexpr int kGroupColumns = 32, kMaxCode = 255, kBias = 128;
  static void pack(const Block& b, int row, uint8_t* t) {
    put16(t, row, b.d);
    put16(t + 32, row, b.scales_h);
    put_bytes(t + 64, row, b.scales_l, 4);
    put_nibbles(t + 128, row, 256, [&](int k) { return nibble(b.qs + 16 * (k / 32), k % 32); });
  }
  static void unpack(const uint8_t* t, int row, Block& b) {
    b.d = get16(t, row);
    b.scales_h = get16(t + 32, row);
    get_bytes(t + 64, row, b.scales_l, 4);
    for (int g = 0; g < 8; ++g)
      for (int j = 0; j < 16; ++j)
        b.qs[16 * g + j] =
            uint8_t(get_nibble(t + 128, row, 32 * g + j) | get_nibble(t + 128, row, 32 * g + j + 16) << 4);
  }
  template <class V>
  static void scales(const uint8_t* t, float (*scale)[16], float (*)[16]) {
    const auto d = V::halves(t);
    const auto low = V::words(t + 64), high = V::words16(t + 32);
    V::for_each_group([&](auto g) {
      const auto l = V::and_ints(V::template shift_right<4 * decltype(g)::value>(low), 15),
                 h = V::and_ints(V::template shift_right<2 * decltype(g)::value>(high), 3);
      V::store(scale[g], V::mul(d, V::to_float(V::add(V::add(l, V::template shift_left<4>(h)), V::ints(-32)))));
    });
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return V::lookup(nibbles<V, S>(t + 128 + 256 * chunk), kIq4Table.value);
  }
};

}  // namespace soffit::cpu
