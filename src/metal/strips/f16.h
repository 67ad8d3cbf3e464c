// Numbers of 16 bits.
#ifndef SOFFIT_METAL_STRIPS_F16_H
#define SOFFIT_METAL_STRIPS_F16_H

#include "metal/strips.h"

namespace soffit {

typedef NumberStrips<half> Strips;

}  // namespace soffit

#endif  // SOFFIT_METAL_STRIPS_F16_H
