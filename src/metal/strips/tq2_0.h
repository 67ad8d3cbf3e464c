// TQ2_0: bytes have two bits of each of four strips, 32 columns apart.
#ifndef SOFFIT_METAL_STRIPS_TQ2_0_H
#define SOFFIT_METAL_STRIPS_TQ2_0_H

#include "metal/strips.h"

namespace soffit {

struct TQ2_0Block {
  static constant constexpr ushort kColumns = 256, kBytes = 66;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const ushort at = strip % 8 / 2;
    const half one = half(1 << 2 * at);
    const float factor = half_at(block + 64) / float(1 << 2 * at);
    device const uchar* bytes = block + strip / 8 * 32 + strip % 2 * 16;
    for (ushort i = 0; i < 16; i += 2) {
      const half2 codes = picked(pair_of(bytes + i), 0x00030003u << 2 * at, one);
      weights[i] = factor * float(codes.x);
      weights[i + 1] = factor * float(codes.y);
    }
  }
};

typedef BlockStrips<TQ2_0Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_TQ2_0_H
