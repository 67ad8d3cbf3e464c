// The operations of a backend, as plain data: a model is a list of them.
//
// Shapes are fixed when a plan is made; `n` below is the number of rows (tokens) of the batch. Inputs and outputs are
// fp32 unless said. Outputs may be strided views. No output may overlap an input except where "in place" is said.
#pragma once

#include <variant>

#include "soffit/activation.hpp"
#include "soffit/backend.hpp"

namespace soffit {

enum class OperationKind : uint8_t {
  linear,
  linear_id,
  get_rows,
  prepare,
  rms_norm,
  rotate,
  append_key_value,
  attention,
  gated_activation,
  route,
  combine,
  gather,
  add,
  scale,
  soft_cap,
  all_reduce,
  short_convolution,
  gated_delta_rule,
};
const char* to_string(OperationKind kind);

// After the product, in this order: v = scale * v + bias; gate: v = act(gate part) * (up part); v += residual.
struct Epilogue {
  float scale = 1.0f;
  ArrayView bias;                      // (1, rows), f32
  Activation gate = Activation::none;  // weights of two equal parts: result rows = those of one
  ArrayView residual;                  // (n, result rows), may be y itself
};

// y[i] = epilogue(W x[i]) for i < n.
struct Linear {
  const Weights* weights = nullptr;
  const Activations* x = nullptr;  // rows 0…n-1
  ArrayView y;                     // (n, result rows); f32, f16 or bf16
  Epilogue epilogue;
};

// Mixture of experts: y[i * used + j] = epilogue(W[ids[i][j]] x[i]), or x[i * used + j] where per_slot. Ids outside [0,
// experts) are an error of the run. An expert may occur twice for one token.
struct LinearId {
  const Weights* weights = nullptr;
  const Activations* x = nullptr;
  ArrayView ids;  // (n, used), i32
  bool per_slot = false;
  ArrayView y;  // (n * used, result rows)
  Epilogue epilogue;
};

// y[i] = scale * row ids[i] of W, exactly as the reference decodes it. Ids out of range are an error of the run.
struct GetRows {
  const Weights* weights = nullptr;  // one part, one expert
  ArrayView ids;                     // (1, n), i32
  ArrayView y;                       // (n, cols)
  float scale = 1.0f;
};

// Brings rows into the form that weights read. x: f32, f16 or bf16.
struct Prepare {
  ArrayView x;
  Activations* to = nullptr;
};

// y = residual + x / sqrt(mean(x^2) + eps) * weight, per row. The sum of squares is accumulated in fp64 or pairwise.
struct RmsNorm {
  ArrayView x;       // (n, cols)
  ArrayView weight;  // (1, cols), f32
  float epsilon = 0;
  ArrayView residual;  // optional
  ArrayView y;         // optional when `prepared` is set; may be x or residual
  Activations* prepared = nullptr;
};

// Rotary position embedding, pairs as in llama.cpp; source: arXiv 2104.09864, YaRN: arXiv 2309.00071.
struct RopeParameters {
  enum class Pairs : uint8_t { adjacent, halves };  // (2i, 2i+1) or (i, i + n/2)
  Pairs pairs = Pairs::halves;
  int64_t dimensions = 0;  // elements of a head that rotate, even
  float base = 10000.0f;
  float frequency_scale = 1.0f;  // 1 / scaling factor
  float extrapolation = 0.0f;    // 1 for YaRN
  float attention_factor = 1.0f;
  float beta_fast = 32.0f, beta_slow = 1.0f;
  int64_t original_context = 0;
  ArrayView frequency_factors;  // (1, dimensions / 2), f32, optional
};

// Optional RMS norm of each head (weights shared by the heads), then RoPE, in place. x: (n, heads * head_dim).
struct Rotate {
  ArrayView x;
  int64_t head_dim = 0;
  ArrayView norm;  // (1, head_dim), optional
  float epsilon = 0;
  RopeParameters rope;
  ArrayView positions;  // (1, n), i32
};

// Writes k and v of each row at its (sequence, position). k is already rotated. A position or sequence outside the
// state is an error of the run. A layer with a window takes no more rows at once than StateDescription::batch.
struct AppendKeyValue {
  ArrayView k, v;  // (n, heads * head_dim)
  State* state = nullptr;
  int64_t layer = 0;
  ArrayView sequences, positions;  // (1, n), i32
};

// y = softmax(scale * q K) V over the keys j of the row's sequence with j <= position and position - j < window.
// Query head h reads key-value head h / (query heads / heads). In a layer with a window a row sees no further than
// that, and a row whose keys have been overwritten is an error of the run.
struct Attention {
  ArrayView q;  // (n, query_heads * head_dim), rotated
  const State* state = nullptr;
  int64_t layer = 0, query_heads = 0;
  float scale = 1.0f;
  int64_t window = 0;  // 0: none
  ArrayView sequences, positions;
  ArrayView y;  // (n, query_heads * head_dim)
};

// act(gate) * up; to a view, to prepared activations, or both.
struct GatedActivation {
  ArrayView gate, up;
  Activation activation = Activation::silu;
  ArrayView y;
  Activations* prepared = nullptr;
};

// softmax over the experts, the `used` largest (ties: the lower id), weights divided by their sum, times scale.
struct Route {
  ArrayView logits;   // (n, experts)
  ArrayView ids;      // (n, used), i32
  ArrayView weights;  // (n, used)
  float scale = 1.0f;
};

// y[i] = residual[i] + sum over j of weights[i][j] * x[i * used + j]. y may be residual.
struct Combine {
  ArrayView x, weights, residual, y;
};

// y[i] = x[ids[i]].
struct Gather {
  ArrayView x, ids, y;
};

struct Add {
  ArrayView a, b, y;  // y may be a or b
};
struct Scale {
  ArrayView x;
  float factor = 1.0f;
  ArrayView y;  // may be x
};
// y = cap * tanh(x / cap).
struct SoftCap {
  ArrayView x;
  float cap = 1.0f;
  ArrayView y;  // may be x
};

// The sum over the devices that share a model, in place on each. A backend that is alone leaves x as it is, bit for
// bit.
struct AllReduce {
  ArrayView x;
};

// The causal convolution of each channel with its last `taps` inputs, and an activation:
//   y[p][c] = act(sum over t < taps of weight[c][t] * x[p - (taps - 1) + t][c])
// where p is the row's position in its sequence, and inputs before position 0 are 0. Those of earlier batches come from
// the state's recurrent layer, which then holds the last taps - 1. The rows of a sequence stand in the order of their
// positions, each the next one; any other is an error of the run.
struct ShortConvolution {
  ArrayView x;       // (n, channels)
  ArrayView weight;  // (channels, taps), f32
  Activation activation = Activation::silu;
  State* state = nullptr;
  int64_t layer = 0;
  ArrayView sequences, positions;  // (1, n), i32
  ArrayView y;                     // (n, channels), may be x
};

// The gated delta rule, arXiv 2412.06464 (equation 10), with what its layers compute on the way in. For each row and
// head h, q and k those of key head h mod (key heads), each divided by max(its length, epsilon):
//   alpha = exp(rate[h] * softplus(time[h] + time_bias[h])),   b = sigmoid(beta[h])
//   S <- alpha (I - b k k^T) S + b k v^T,   y = scale * S^T q
// S, (key_dim, value_dim), is the head's matrix in the state's recurrent layer, 0 at position 0. Rows as for
// ShortConvolution.
struct GatedDeltaRule {
  ArrayView q, k;             // (n, key_heads * key_dim); heads is a multiple of key_heads
  ArrayView v;                // (n, heads * value_dim)
  ArrayView time, beta;       // (n, heads)
  ArrayView rate, time_bias;  // (1, heads); rates are negative: what is remembered fades
  float epsilon = 0;
  float scale = 1.0f;
  State* state = nullptr;
  int64_t layer = 0;
  ArrayView sequences, positions;  // (1, n), i32
  ArrayView y;                     // (n, heads * value_dim)
};

struct Operation {
  std::variant<Linear, LinearId, GetRows, Prepare, RmsNorm, Rotate, AppendKeyValue, Attention, GatedActivation, Route,
               Combine, Gather, Add, Scale, SoftCap, AllReduce, ShortConvolution, GatedDeltaRule>
      value;
  template <class T>
  Operation(T v) : value(std::move(v)) {}
  OperationKind kind() const { return OperationKind(value.index()); }
};

// Everything an operation touches, for ordering. Shapes, types and strides of an operation are checked by check().
struct Access {
  const void* object = nullptr;  // a Buffer, an Activations or a State
  ArrayView view;                // empty: the whole object
  int64_t layer = 0;             // of a State
  bool write = false;
};
std::vector<Access> accesses(const Operation& operation);
// The shapes agree, every view lies inside its buffer, no size overflows: what is independent of the backend.
Status check(const Operation& operation);

}  // namespace soffit
