// Q4_1: the first 16 columns are the low nibbles.
#ifndef SOFFIT_METAL_STRIPS_Q4_1_H
#define SOFFIT_METAL_STRIPS_Q4_1_H

#include "metal/strips.h"

namespace soffit {

struct Q4_1Block {
  static constant constexpr ushort kColumns = 32, kBytes = 20;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    nibble_strip(block + 4, strip == 1, 0.0h, half_at(block), weights);
    subtract(-half_at(block + 2), weights);
  }
};

typedef BlockStrips<Q4_1Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q4_1_H
