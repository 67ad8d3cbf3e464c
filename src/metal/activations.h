// Gates: x / (1 + e^-v) with v = x, or GELU's v. Where the exponential overflows the result is 0: not for fast math,
// which knows no infinity.
#ifndef SOFFIT_METAL_ACTIVATIONS_H
#define SOFFIT_METAL_ACTIVATIONS_H

#include <metal_stdlib>
using namespace metal;

namespace soffit {

inline float silu(float x) { return x / (1.0f + exp(-x)); }

inline float gelu(float x) {
  const float v = 1.59576912160573071f * x * (1.0f + 0.044715f * x * x);  // 2 sqrt(2 / pi)
  return x / (1.0f + exp(-v));
}

}  // namespace soffit

#endif  // SOFFIT_METAL_ACTIVATIONS_H
