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
  uint32_t n;  // columns of activations; kernels for one have as many threadgroups instead
  uint32_t unused;
};

// y[slot] = W[ids[slot]] x[slot / used], or x[slot] where per_slot; slot counts tokens times experts used for each. A
// slot whose id is no expert is left as it is: check_ids is what tells of it.
struct LinearIdArguments {
  LinearArguments linear;  // n: slots
  uint64_t expert_bytes;   // from one expert's matrix to the next
  uint32_t experts;
  uint32_t used;
  uint32_t per_slot;
  uint32_t unused;
};

// y[i] = scale * row ids[i] of W
struct GetRowsArguments {
  uint64_t row_bytes;
  uint64_t y_stride;
  uint32_t rows;
  uint32_t cols;
  float scale;
  uint32_t unused;
};

// Ids of rows or experts.
struct IdsArguments {
  uint32_t count;
  uint32_t limit;  // ids are below
};

}  // namespace soffit

#endif  // SOFFIT_METAL_ARGUMENTS_H
