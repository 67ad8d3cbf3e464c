// What the host hands to the kernels around the products, the same in C++ and in Metal. Strides are in elements, from
// one row to the next; all numbers are fp32, ids, positions and sequences int32.
#ifndef SOFFIT_METAL_GRAPH_ARGUMENTS_H
#define SOFFIT_METAL_GRAPH_ARGUMENTS_H

#include "metal/arguments.h"

namespace soffit {

// rms_norm: y = residual + x / sqrt(mean(x^2) + epsilon) * weight
struct RmsNormArguments {
  uint64_t x_stride, residual_stride, y_stride;
  uint32_t cols;
  float epsilon;
  uint32_t has_residual;
  uint32_t unused;
};

// rotate_heads: in place, head by head. For each pair of elements `turns` has how many turns a position is, as the sum
// of two numbers: the host computes it in double (rope_turns).
struct RotateArguments {
  uint64_t x_stride;
  uint32_t head_dim;
  uint32_t pairs;     // that rotate
  uint32_t adjacent;  // (2i, 2i + 1), else (i, i + pairs)
  uint32_t has_norm;  // of each head, before
  float epsilon;
  float magnitude;
};

// append_key_value and attention. The state of a layer: element e of position p of sequence s is at
// s * sequence_stride + p * position_stride + e, of keys and of values alike.
struct KeyValueArguments {
  uint64_t k_stride, v_stride;  // of the new rows
  uint64_t sequence_stride, position_stride;
  uint32_t width;                 // heads * head_dim
  uint32_t sequences, positions;  // that there is room for
  uint32_t unused;
};

struct AttentionArguments {
  uint64_t q_stride, y_stride;
  uint64_t sequence_stride, position_stride;
  uint32_t head_dim;         // at most 512
  uint32_t heads_per_group;  // query heads that share a head of keys and values
  float scale;
  uint32_t window;  // 0: none
  uint32_t sequences, positions;
};

struct GatedArguments {
  uint64_t gate_stride, up_stride, y_stride;
  uint32_t cols;
  uint32_t gelu;  // else SiLU
};

// After a product: y = residual + act(gate part) * up part, of v = scale * x + bias; without a gate of all of v. With
// one, the gate part is the first half of x.
struct EpilogueArguments {
  uint64_t x_stride, residual_stride, y_stride;
  uint32_t cols;  // of y
  float scale;
  uint32_t has_bias, has_residual;
  uint32_t gate;  // 0: none, 1: SiLU, 2: GELU
  uint32_t unused;
};

struct RouteArguments {
  uint64_t logits_stride, ids_stride, weights_stride;
  uint32_t experts;  // at most 1024
  uint32_t used;     // at most 32
  float scale;
  uint32_t unused;
};

// combine: y[i] = residual[i] + sum over j of weights[i][j] * x[i * used + j]
struct CombineArguments {
  uint64_t x_stride, weights_stride, residual_stride, y_stride;
  uint32_t cols;
  uint32_t used;
  uint32_t has_residual;
  uint32_t unused;
};

// gather: y[i] = x[ids[i]]; ids that are none leave y[i] as it is.
struct GatherArguments {
  uint64_t x_stride, y_stride;
  uint32_t cols;
  uint32_t rows;  // of x
};

// add, scale, soft_cap
struct ElementwiseArguments {
  uint64_t a_stride, b_stride, y_stride;
  uint32_t cols;
  float factor;  // of scale; the cap of soft_cap
};

// convert: from any of fp32, fp16 and bf16 to fp32, and back
struct ConvertArguments {
  uint64_t x_stride, y_stride;
  uint32_t cols;
  uint32_t unused;
};

// check_rows
struct RowsArguments {
  uint32_t rows;
  uint32_t sequences, positions;  // that there is room for
};

struct ConvolutionArguments {
  uint64_t x_stride, weight_stride, y_stride;
  uint32_t rows, channels, taps;
  uint32_t gate;  // as in EpilogueArguments
  uint32_t sequences, positions;
};

// The state of head h of sequence s: at (s * heads + h) * key_dim * value_dim, key_dim rows of value_dim.
struct DeltaRuleArguments {
  uint64_t q_stride, k_stride, v_stride, time_stride, beta_stride, y_stride;
  uint32_t rows, heads, key_heads, key_dim, value_dim;
  uint32_t sequences, positions;
  float epsilon, scale;
  uint32_t unused;
};

}  // namespace soffit

#endif  // SOFFIT_METAL_GRAPH_ARGUMENTS_H
