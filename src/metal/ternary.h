// The dot product of a TQ1_0 byte's digits with activations; see linear_tq1_0_regions.metal for the identity.
#ifndef SOFFIT_METAL_TERNARY_H
#define SOFFIT_METAL_TERNARY_H

#include <metal_stdlib>
using namespace metal;

namespace soffit {

// Of F(1) … F(5), and the sum of the activations.
struct Coefficients {
  float of[5];
  float sum;
};

// Digit n of the lane's byte goes with x[n * distance]; digits from `digits` on are not there, their activation is 0.
template <typename X>
inline Coefficients coefficients(device const X* x, ushort distance, ushort digits) {
  float y[5];
  for (ushort n = 0; n < 5; ++n) y[n] = n < digits ? float(x[n * distance]) : 0.0f;
  Coefficients c;
  for (ushort k = 0; k < 4; ++k) c.of[k] = y[k] - 3.0f * y[k + 1];
  c.of[4] = y[4];
  c.sum = (y[0] + y[1]) + (y[2] + y[3]) + y[4];
  return c;
}

// floor(3^k byte / 256) is exact: at most 3^5 * 255 = 61965, times a power of two.
inline float collapsed(uchar byte, thread const Coefficients& c) {
  const float b = float(byte);
  float sum = -c.sum;
  sum += floor(b * (3.0f / 256)) * c.of[0];
  sum += floor(b * (9.0f / 256)) * c.of[1];
  sum += floor(b * (27.0f / 256)) * c.of[2];
  sum += floor(b * (81.0f / 256)) * c.of[3];
  sum += floor(b * (243.0f / 256)) * c.of[4];
  return sum;
}

// For a byte of four digits.
inline float collapsed_four(uchar byte, thread const Coefficients& c) {
  const float b = float(byte);
  float sum = -c.sum;
  sum += floor(b * (3.0f / 256)) * c.of[0];
  sum += floor(b * (9.0f / 256)) * c.of[1];
  sum += floor(b * (27.0f / 256)) * c.of[2];
  sum += floor(b * (81.0f / 256)) * c.of[3];
  return sum;
}

}  // namespace soffit

#endif  // SOFFIT_METAL_TERNARY_H
