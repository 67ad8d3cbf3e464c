// Arguments of the kernels around the matrices of a model's graph. Strides are in elements, from one row to the next.
#ifndef SOFFIT_METAL_GRAPH_ARGUMENTS_H
#define SOFFIT_METAL_GRAPH_ARGUMENTS_H

#include "metal/arguments.h"

namespace soffit {

// v = scale * x + bias; gated: v = act(v) * (scale * x' + bias') of the columns from `up` on; v += residual; to y's
// type
struct FinishArguments {
  uint64_t x_stride, y_stride, residual_stride;
  uint32_t cols;  // of y
  uint32_t gate;  // 0: none, 1: SiLU, 2: GELU by tanh
  uint32_t up;
  uint32_t has_bias, has_residual;
  float scale;
};

// y = residual + x / sqrt(mean of x^2 + epsilon) * weight
struct NormArguments {
  uint64_t x_stride, y_stride, residual_stride;
  uint32_t cols;
  uint32_t has_residual;
  float epsilon;
  uint32_t unused;
};

// A pair's turns for each position, as the sum of two floats, and what its cosine and sine are multiplied by.
struct RotatePair {
  float turns, turns_rest, magnitude, unused;
};
struct RotateArguments {
  uint64_t x_stride;
  uint32_t head_dim;
  uint32_t pairs;
  uint32_t adjacent;  // pairs (2i, 2i + 1), else (i, i + pairs)
  uint32_t has_norm;
  float epsilon;
  uint32_t unused;
};

// A layer's keys and values; see ops/key_value_store.hpp.
struct KeyValueArguments {
  uint64_t k_stride, v_stride;  // of rows; attention: of q and y
  uint64_t sequence_stride;     // elements of the store, from one sequence to the next
  uint64_t head_stride;         // from one head's keys to its values and to the next head's keys: half of it
  uint32_t heads, head_dim;     // of keys and values
  uint32_t held;                // slots of a sequence
  uint32_t sequences, context;
  uint32_t query_heads;
  uint32_t window;  // 0: all
  float scale;
};

// y = act(gate) * up
struct GateArguments {
  uint64_t gate_stride, up_stride, y_stride;
  uint32_t cols;
  uint32_t gate;
};

// The `used` largest of softmax(logits), scaled so that their sum is `scale`.
struct RouteArguments {
  uint64_t logits_stride, ids_stride, weights_stride;
  uint32_t experts, used;
  float scale;
  uint32_t unused;
};

// y = residual + sum over j of weights[row][j] * x[row * used + j]
struct CombineArguments {
  uint64_t x_stride, weights_stride, residual_stride, y_stride;
  uint32_t cols, used;
  uint32_t has_residual;
  uint32_t unused;
};

// y = a + b, factor * a, or factor * tanh(a / factor); gather: row ids[row] of a, of `rows`
struct ElementwiseArguments {
  uint64_t a_stride, b_stride, y_stride;
  uint32_t cols, rows;
  float factor;
  uint32_t unused;
};

// Kernels get the inputs, or the matrices, of the first sequence's recurrent layer: see ops/recurrent_store.hpp.
struct ConvolutionArguments {
  uint64_t x_stride, weight_stride, y_stride, sequence_stride;
  uint32_t rows, channels, taps;
  uint32_t gate;  // as in FinishArguments
  uint32_t sequences, positions;
};

struct DeltaRuleArguments {
  uint64_t q_stride, k_stride, v_stride, time_stride, beta_stride, y_stride, sequence_stride;
  uint32_t rows, heads, key_heads, key_dim, value_dim;
  uint32_t sequences, positions;
  float epsilon, scale;
  uint32_t unused;
};

}  // namespace soffit

#endif  // SOFFIT_METAL_GRAPH_ARGUMENTS_H
