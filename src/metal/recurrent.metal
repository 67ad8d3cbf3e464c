// Layers that remember: each channel or column goes through the rows of a batch in their order. Rows whose sequence or
// position there is no room for are left out: the host tells of them, and of rows that are not the next ones.
#include "metal/activation.h"
#include "metal/graph_arguments.h"

using namespace soffit;

// A thread for each channel. past[sequence][t][channel] has the last taps - 1 inputs, the oldest first.
kernel void short_convolution(constant ConvolutionArguments& arguments [[buffer(0)]],
                              device const float* x [[buffer(1)]], device const float* weight [[buffer(2)]],
                              device float* past [[buffer(3)]], device const int* sequences [[buffer(4)]],
                              device const int* positions [[buffer(5)]], device float* y [[buffer(6)]],
                              uint channel [[thread_position_in_grid]]) {
  if (channel >= arguments.channels) return;
  device const float* taps = weight + channel * arguments.weight_stride;
  const uint before = arguments.taps - 1;
  for (uint row = 0; row < arguments.rows; ++row) {
    const uint sequence = uint(sequences[row]), position = uint(positions[row]);
    if (sequence >= arguments.sequences || position >= arguments.positions) continue;
    device float* inputs = past + sequence * arguments.sequence_stride + channel;
    const float now = x[row * arguments.x_stride + channel];
    float sum = 0.0f;
    for (uint t = 0; t < before; ++t) {
      // What lies before position 0 is 0, whatever the state holds there.
      const float input = position + t >= before ? inputs[t * arguments.channels] : 0.0f;
      sum += taps[t] * input;
      if (t > 0) inputs[(t - 1) * arguments.channels] = input;
    }
    if (before > 0) inputs[(before - 1) * arguments.channels] = now;
    sum += taps[before] * now;
    y[row * arguments.y_stride + channel] = arguments.gate == 0 ? sum : activated(arguments.gate, sum);
  }
}

// precise::log(1 + e^x), of which nothing is lost where it is small.
inline float softplus(float x) {
  const float e = precise::exp(-fabs(x)), u = 1.0f + e;
  return max(x, 0.0f) + (u == 1.0f ? e : precise::log(u) * e / (u - 1.0f));
}

// The gated delta rule, arXiv 2412.06464, equation 10. A simdgroup for 32 columns of a head's matrix, a lane for each;
// with u = S^T k a column becomes alpha S + b k (v - alpha u). Threadgroup memory: the row's q and k, divided by their
// lengths.
kernel void gated_delta_rule(constant DeltaRuleArguments& arguments [[buffer(0)]], device const float* q [[buffer(1)]],
                             device const float* k [[buffer(2)]], device const float* v [[buffer(3)]],
                             device const float* time [[buffer(4)]], device const float* beta [[buffer(5)]],
                             device const float* rate [[buffer(6)]], device const float* time_bias [[buffer(7)]],
                             device float* state [[buffer(8)]], device const int* sequences [[buffer(9)]],
                             device const int* positions [[buffer(10)]], device float* y [[buffer(11)]],
                             threadgroup float* shared [[threadgroup(0)]], uint2 group [[threadgroup_position_in_grid]],
                             ushort lane [[thread_index_in_simdgroup]]) {
  const uint head = group.y, column = group.x * 32 + lane, dim = arguments.key_dim;
  const bool has = column < arguments.value_dim;
  threadgroup float *query = shared, *key = shared + dim;
  for (uint row = 0; row < arguments.rows; ++row) {
    const uint sequence = uint(sequences[row]), position = uint(positions[row]);
    if (sequence >= arguments.sequences || position >= arguments.positions) continue;  // all lanes
    const uint from = head % arguments.key_heads * dim;
    device const float *q_row = q + row * arguments.q_stride + from, *k_row = k + row * arguments.k_stride + from;
    float2 squares = 0.0f;
    for (uint i = lane; i < dim; i += 32) {
      squares.x += q_row[i] * q_row[i];
      squares.y += k_row[i] * k_row[i];
    }
    const float q_factor = 1.0f / max(precise::sqrt(simd_sum(squares.x)), arguments.epsilon);
    const float k_factor = 1.0f / max(precise::sqrt(simd_sum(squares.y)), arguments.epsilon);
    simdgroup_barrier(mem_flags::mem_threadgroup);  // the last row's are no longer needed
    for (uint i = lane; i < dim; i += 32) {
      query[i] = q_row[i] * q_factor;
      key[i] = k_row[i] * k_factor;
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (has) {
      const float alpha = precise::exp(rate[head] * softplus(time[row * arguments.time_stride + head] + time_bias[head]));
      const float b = 1.0f / (1.0f + precise::exp(-beta[row * arguments.beta_stride + head]));
      device float* own = state + sequence * arguments.sequence_stride + head * dim * arguments.value_dim + column;
      float u = 0.0f;
      if (position > 0) {
        for (uint i = 0; i < dim; ++i) u += own[i * arguments.value_dim] * key[i];
      }
      const float change = b * (v[row * arguments.v_stride + head * arguments.value_dim + column] - alpha * u);
      float sum = 0.0f;
      for (uint i = 0; i < dim; ++i) {
        const float before = position > 0 ? own[i * arguments.value_dim] : 0.0f;
        const float after = alpha * before + key[i] * change;
        own[i * arguments.value_dim] = after;
        sum += after * query[i];
      }
      y[row * arguments.y_stride + head * arguments.value_dim + column] = sum * arguments.scale;
    }
  }
}
