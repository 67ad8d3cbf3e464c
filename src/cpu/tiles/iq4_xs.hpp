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
    uint8_t code[256];
    for (int g = 0; g < 8; ++g) split_nibbles(b.qs + 16 * g, 16, code + 32 * g);
    put_nibbles(t + 128, row, 256, code);
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
  static typename V::Floats factor(const uint8_t* t) {
    return V::halves(t);
  }
  template <class V>
  struct Header {
    typename V::Ints low, high;
  };
  template <class V>
  static Header<V> header(const uint8_t* t) {
    return {V::words(t + 64), V::words16(t + 32)};
  }
  template <class V, int G>
  static typename V::Ints scale(const Header<V>& h) {
    const auto low = V::and_ints(V::template shift_right<4 * G>(h.low), 15);
    const auto high = V::and_ints(V::template shift_right<2 * G>(h.high), 3);
    return V::add(V::add(low, V::template shift_left<4>(high)), V::ints(-32));
  }
  template <class V, int S>
  static typename V::Bytes codes(const uint8_t* t, int chunk) {
    return V::lookup(low_nibbles<V, S>(t + 128 + 256 * chunk), kIq4Table.value);
  }
};

}  // namespace soffit::cpu
