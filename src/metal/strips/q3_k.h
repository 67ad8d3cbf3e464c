// Q3_K: a strip is a group. Two bits as in Q2_K; a byte of the first 32 has the third bit of eight strips.
#ifndef SOFFIT_METAL_STRIPS_Q3_K_H
#define SOFFIT_METAL_STRIPS_Q3_K_H

#include "metal/strips.h"

namespace soffit {

struct Q3_KBlock {
  static constant constexpr ushort kColumns = 256, kBytes = 110;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const ushort at = strip % 8 / 2, bit = strip / 2;
    const ushort low = (block[96 + strip % 8] >> strip / 8 * 4) & 15,
                 high = (block[104 + strip % 4] >> strip / 4 * 2) & 3;
    const float scale = half_at(block + 108) * float(short(low | high << 4) - 32);
    const half down = 1.0h / half(1 << 2 * at), worth = 4.0h / half(1 << bit);
    device const uchar *twos = block + 32 + strip / 8 * 32 + strip % 2 * 16, *thirds = block + strip % 2 * 16;
    for (ushort i = 0; i < 16; i += 2) {
      const half2 two = picked(pair_of(twos + i), 0x00030003u << 2 * at, 0.0h);
      const half2 third = picked(pair_of(thirds + i), 0x00010001u << bit, 0.0h);
      const half2 codes = two * down + (third * worth - 4.0h);
      weights[i] = scale * float(codes.x);
      weights[i + 1] = scale * float(codes.y);
    }
  }
};

typedef BlockStrips<Q3_KBlock> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q3_K_H
