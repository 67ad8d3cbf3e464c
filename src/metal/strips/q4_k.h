// Q4_K: a group is two strips; two groups share 32 bytes, low nibbles first.
#ifndef SOFFIT_METAL_STRIPS_Q4_K_H
#define SOFFIT_METAL_STRIPS_Q4_K_H

#include "metal/strips.h"

namespace soffit {

struct Q4_KBlock {
  static constant constexpr ushort kColumns = 256, kBytes = 144;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const ushort group = strip / 2;
    const float2 scales = six_bit_scales(block + 4, group);
    device const uchar* bytes = block + 16 + strip / 4 * 32 + strip % 2 * 16;
    nibble_strip(bytes, group % 2 == 1, 0.0h, half_at(block) * scales.x, weights);
    subtract(half_at(block + 2) * scales.y, weights);
  }
};

typedef BlockStrips<Q4_KBlock> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q4_K_H
