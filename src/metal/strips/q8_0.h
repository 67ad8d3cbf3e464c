// Q8_0: bytes, read as unsigned with the sign bit turned over, are code + 128.
#ifndef SOFFIT_METAL_STRIPS_Q8_0_H
#define SOFFIT_METAL_STRIPS_Q8_0_H

#include "metal/strips.h"

namespace soffit {

struct Q8_0Block {
  static constant constexpr ushort kColumns = 32, kBytes = 34;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const float scale = half_at(block);
    device const uchar* bytes = block + 2 + 16 * strip;
    for (ushort i = 0; i < 16; i += 2) {
      const half2 codes = as_type<half2>(pair_of(bytes + i) ^ 0x64806480u) - 1152.0h;
      weights[i] = scale * float(codes.x);
      weights[i + 1] = scale * float(codes.y);
    }
  }
};

typedef BlockStrips<Q8_0Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q8_0_H
