// The activation functions of gated layers, by number: 1 SiLU, 2 GELU by tanh.
#ifndef SOFFIT_METAL_ACTIVATION_H
#define SOFFIT_METAL_ACTIVATION_H

namespace soffit {

// Both are x / (1 + e^-v): 1 + tanh(v / 2), which GELU is written with, would lose digits where it is small.
inline float activated(uint function, float x) {
  const float v = function == 1 ? x : 1.59576912160573071176f * (x + 0.044715f * x * x * x);
  return x / (1.0f + precise::exp(-v));
}

}  // namespace soffit

#endif  // SOFFIT_METAL_ACTIVATION_H
