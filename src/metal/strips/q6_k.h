// Q6_K: a strip is a group. Of each half of a block, nibbles of 64 bytes and two bits above them of 32.
#ifndef SOFFIT_METAL_STRIPS_Q6_K_H
#define SOFFIT_METAL_STRIPS_Q6_K_H

#include "metal/strips.h"

namespace soffit {

struct Q6_KBlock {
  static constant constexpr ushort kColumns = 256, kBytes = 210;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const ushort at = strip % 8 / 2;
    const float scale = half_at(block + 208) * float(as_type<char>(block[192 + strip]));
    const uint mask = at / 2 ? 0x00f000f0u : 0x000f000fu;
    const half down = at / 2 ? 1.0h / 16 : 1.0h, worth = 16.0h / half(1 << 2 * at);
    device const uchar* lows = block + strip / 8 * 64 + at % 2 * 32 + strip % 2 * 16;
    device const uchar* highs = block + 128 + strip / 8 * 32 + strip % 2 * 16;
    for (ushort i = 0; i < 16; i += 2) {
      const half2 high = picked(pair_of(highs + i), 0x00030003u << 2 * at, 0.0h);
      const half2 codes = picked(pair_of(lows + i), mask, 0.0h) * down + (high * worth - 32.0h);
      weights[i] = scale * float(codes.x);
      weights[i + 1] = scale * float(codes.y);
    }
  }
};

typedef BlockStrips<Q6_KBlock> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q6_K_H
