// Q2_K: a strip is a group. Bytes have two bits of each of four strips, 32 columns apart.
#ifndef SOFFIT_METAL_STRIPS_Q2_K_H
#define SOFFIT_METAL_STRIPS_Q2_K_H

#include "metal/strips.h"

namespace soffit {

struct Q2_KBlock {
  static constant constexpr ushort kColumns = 256, kBytes = 84;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const ushort at = strip % 8 / 2;  // which two bits
    const float scale = half_at(block + 80) * float(block[strip] & 15),
                minimum = half_at(block + 82) * float(block[strip] >> 4);
    const float factor = scale / float(1 << 2 * at);
    device const uchar* bytes = block + 16 + strip / 8 * 32 + strip % 2 * 16;
    for (ushort i = 0; i < 16; i += 2) {
      const half2 codes = picked(pair_of(bytes + i), 0x00030003u << 2 * at, 0.0h);
      weights[i] = factor * float(codes.x) - minimum;
      weights[i + 1] = factor * float(codes.y) - minimum;
    }
  }
};

typedef BlockStrips<Q2_KBlock> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q2_K_H
