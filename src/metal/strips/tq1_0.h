// TQ1_0: digit n of a byte is floor(3 f / 256) with f the low byte of 3^n byte, for two bytes at once: their products
// stay below 2^16. Strips 0 … 9 are digits of 32 bytes, 10 … 14 of 16; strip 15 has four digits of four.
#ifndef SOFFIT_METAL_STRIPS_TQ1_0_H
#define SOFFIT_METAL_STRIPS_TQ1_0_H

#include "metal/strips.h"

namespace soffit {

constant uint kPowersOfThree[5] = {1, 3, 9, 27, 81};

struct TQ1_0Block {
  static constant constexpr ushort kColumns = 256, kBytes = 54;

  static void strip(device const uchar* block, ushort strip, thread float* weights) {
    const bool last = strip == 15;
    device const uchar* bytes = block + (last ? 48 : strip < 10 ? strip % 2 * 16 : 32);
    const ushort digit = strip < 10 ? strip / 2 : strip - 10;
    const float scale = half_at(block + 52) * (1.0f / 256);
    for (ushort i = 0; i < 16; i += 2) {
      const uint fraction = (pair_of(bytes + (last ? i % 4 : i)) * kPowersOfThree[last ? i / 4 : digit]) & 0x00ff00ffu;
      const half2 digits = picked(fraction + fraction + fraction, 0x03000300u, 256.0h);
      weights[i] = scale * float(digits.x);
      weights[i + 1] = scale * float(digits.y);
    }
  }
};

typedef BlockStrips<TQ1_0Block> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_TQ1_0_H
