// MXFP4: the first 16 columns are the low nibbles. Scales below 2^-126 are fp32 subnormals.
#ifndef SOFFIT_METAL_STRIPS_MXFP4_H
#define SOFFIT_METAL_STRIPS_MXFP4_H

#include "formats/blocks.h"
#include "metal/strips.h"

namespace soffit {

constant half kE2m1Halves[16] = {SOFFIT_E2M1_DOUBLED};

struct MXFP4Block {
  static constant constexpr ushort kColumns = 32, kBytes = 17;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const uint exponent = block[0];  // the table is doubled, so the scale is half of what the byte says
    const float scale = as_type<float>(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
    table_strip(block + 1, strip == 1, kE2m1Halves, scale, weights);
  }
};

typedef BlockStrips<MXFP4Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_MXFP4_H
