// Q5_K: nibbles as in Q4_K; a byte of the 32 of qh has the fifth bits of eight groups.
#ifndef SOFFIT_METAL_STRIPS_Q5_K_H
#define SOFFIT_METAL_STRIPS_Q5_K_H

#include "metal/strips.h"

namespace soffit {

struct Q5_KBlock {
  static constant constexpr ushort kColumns = 256, kBytes = 176;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const ushort group = strip / 2;
    const float2 scales = six_bit_scales(block + 4, group);
    const float scale = half_at(block) * scales.x, minimum = half_at(block + 2) * scales.y;
    device const uchar *bytes = block + 48 + strip / 4 * 32 + strip % 2 * 16, *fifths = block + 16 + strip % 2 * 16;
    const uint mask = group % 2 ? 0x00f000f0u : 0x000f000fu;
    const half down = group % 2 ? 1.0h / 16 : 1.0h, worth = 16.0h / half(1 << group);
    for (ushort i = 0; i < 16; i += 2) {
      const half2 fifth = picked(pair_of(fifths + i), 0x00010001u << group, 0.0h);
      const half2 codes = picked(pair_of(bytes + i), mask, 0.0h) * down + fifth * worth;
      weights[i] = scale * float(codes.x) - minimum;
      weights[i + 1] = scale * float(codes.y) - minimum;
    }
  }
};

typedef BlockStrips<Q5_KBlock> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q5_K_H
