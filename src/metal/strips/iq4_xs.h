// IQ4_XS: a group of 32 columns is two strips, of low nibbles and of high ones.
#ifndef SOFFIT_METAL_STRIPS_IQ4_XS_H
#define SOFFIT_METAL_STRIPS_IQ4_XS_H

#include "formats/blocks.h"
#include "metal/strips.h"

namespace soffit {

constant half kIq4Halves[16] = {SOFFIT_IQ4_VALUES};

struct IQ4_XSBlock {
  static constant constexpr ushort kColumns = 256, kBytes = 136;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const ushort group = strip / 2;
    const ushort low = (block[4 + group / 2] >> group % 2 * 4) & 15;
    const ushort high = (reinterpret_cast<device const ushort*>(block)[1] >> 2 * group) & 3;
    const float scale = half_at(block) * float(short(low | high << 4) - 32);
    table_strip(block + 8 + 16 * group, strip % 2 == 1, kIq4Halves, scale, weights);
  }
};

typedef BlockStrips<IQ4_XSBlock> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_IQ4_XS_H
