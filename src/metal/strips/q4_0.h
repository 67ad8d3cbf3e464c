// Q4_0: the first 16 columns are the low nibbles.
#ifndef SOFFIT_METAL_STRIPS_Q4_0_H
#define SOFFIT_METAL_STRIPS_Q4_0_H

#include "metal/strips.h"

namespace soffit {

struct Q4_0Block {
  static constant constexpr ushort kColumns = 32, kBytes = 18;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    nibble_strip(block + 2, strip == 1, 8.0h, half_at(block), weights);
  }
};

typedef BlockStrips<Q4_0Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q4_0_H
