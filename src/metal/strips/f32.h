// Numbers of 32 bits.
#ifndef SOFFIT_METAL_STRIPS_F32_H
#define SOFFIT_METAL_STRIPS_F32_H

#include "metal/strips.h"

namespace soffit {

typedef NumberStrips<float> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_F32_H
