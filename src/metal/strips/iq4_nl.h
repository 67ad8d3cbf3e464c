// IQ4_NL: the first 16 columns are the low nibbles.
#ifndef SOFFIT_METAL_STRIPS_IQ4_NL_H
#define SOFFIT_METAL_STRIPS_IQ4_NL_H

#include "formats/blocks.h"
#include "metal/strips.h"

namespace soffit {

constant half kIq4Halves[16] = {SOFFIT_IQ4_VALUES};

struct IQ4_NLBlock {
  static constant constexpr ushort kColumns = 32, kBytes = 18;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    table_strip(block + 2, strip == 1, kIq4Halves, half_at(block), weights);
  }
};

typedef BlockStrips<IQ4_NLBlock> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_IQ4_NL_H
