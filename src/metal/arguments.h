// What the host hands to kernels by value, the same in C++ and in Metal.
#ifndef SOFFIT_METAL_ARGUMENTS_H
#define SOFFIT_METAL_ARGUMENTS_H

#ifdef __METAL_VERSION__
#include <metal_stdlib>
using namespace metal;
#else
#include <stdint.h>
#endif

namespace soffit {

// y[c][r] = sum over k of weights[r][k] x[c][k]
struct LinearArguments {
  uint64_t row_bytes;  // from one row of weights to the next
  uint64_t x_stride;   // elements from one column of activations to the next
  uint64_t y_stride;   // of results
  uint32_t rows;       // of the matrix
  uint32_t cols;
};

}  // namespace soffit

#endif  // SOFFIT_METAL_ARGUMENTS_H
