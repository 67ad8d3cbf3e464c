// Q5_1: the first 16 columns are the low nibbles; fifth bits in the order of columns.
#ifndef SOFFIT_METAL_STRIPS_Q5_1_H
#define SOFFIT_METAL_STRIPS_Q5_1_H

#include "metal/strips.h"

namespace soffit {

struct Q5_1Block {
  static constant constexpr ushort kColumns = 32, kBytes = 24;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    five_bit_strip(block + 8, block + 4 + 2 * strip, strip == 1, 0.0h, half_at(block), weights);
    subtract(-half_at(block + 2), weights);
  }
};

typedef BlockStrips<Q5_1Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q5_1_H
