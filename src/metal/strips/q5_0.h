// Q5_0: the first 16 columns are the low nibbles; fifth bits in the order of columns.
#ifndef SOFFIT_METAL_STRIPS_Q5_0_H
#define SOFFIT_METAL_STRIPS_Q5_0_H

#include "metal/strips.h"

namespace soffit {

struct Q5_0Block {
  static constant constexpr ushort kColumns = 32, kBytes = 22;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    five_bit_strip(block + 6, block + 2 + 2 * strip, strip == 1, 16.0h, half_at(block), weights);
  }
};

typedef BlockStrips<Q5_0Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_Q5_0_H
