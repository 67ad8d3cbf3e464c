// Keys and values of sequences: appending them, and attention over them. A row whose sequence or position is none is
// left alone: the host tells of it.
#include "metal/graph_arguments.h"

using namespace soffit;

constant constexpr uint kKeyBlock = 64;    // see ops/key_block.hpp
constant constexpr ushort kMostDims = 16;  // of a head, for each lane: heads of up to 512

inline bool is_place(constant KeyValueArguments& arguments, int sequence, int position) {
  return sequence >= 0 && uint(sequence) < arguments.sequences && position >= 0 && uint(position) < arguments.context;
}

// A simdgroup for each head and row.
template <typename T>
kernel void append_key_value(constant KeyValueArguments& arguments [[buffer(0)]], device const float* k [[buffer(1)]],
                             device const float* v [[buffer(2)]], device T* store [[buffer(3)]],
                             device const int* sequences [[buffer(4)]], device const int* positions [[buffer(5)]],
                             uint3 group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
  const uint head = group.x, row = group.y;
  const int sequence = sequences[row], position = positions[row];
  if (!is_place(arguments, sequence, position)) return;
  const uint slot = uint(position) % arguments.held;
  device T* keys = store + uint(sequence) * arguments.sequence_stride + head * arguments.head_stride;
  device T* values = keys + arguments.head_stride / 2;
  keys += slot / kKeyBlock * kKeyBlock * arguments.head_dim + slot % kKeyBlock;
  device const float* key = k + row * arguments.k_stride + head * arguments.head_dim;
  device const float* value = v + row * arguments.v_stride + head * arguments.head_dim;
  for (uint d = lane; d < arguments.head_dim; d += 32) {
    keys[d * kKeyBlock] = T(key[d]);
    values[slot * arguments.head_dim + d] = T(value[d]);
  }
}

// A simdgroup for each query head and row: a lane has a key, then some of the head's columns. The softmax is taken as
// the keys come (arXiv 1805.02867).
template <typename T>
kernel void attention(constant KeyValueArguments& arguments [[buffer(0)]], device const float* q [[buffer(1)]],
                      device const T* store [[buffer(2)]], device const int* sequences [[buffer(3)]],
                      device const int* positions [[buffer(4)]], device float* y [[buffer(5)]],
                      uint3 group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
  const uint query_head = group.x, row = group.y, dim = arguments.head_dim;
  const int sequence = sequences[row], position = positions[row];
  if (!is_place(arguments, sequence, position)) return;
  const uint head = query_head / (arguments.query_heads / arguments.heads);
  device const T* keys = store + uint(sequence) * arguments.sequence_stride + head * arguments.head_stride;
  device const T* values = keys + arguments.head_stride / 2;
  device const float* query = q + row * arguments.k_stride + query_head * dim;

  const uint end = uint(position) + 1;
  const uint begin = arguments.window && end > arguments.window ? end - arguments.window : 0;
  float sums[kMostDims] = {0.0f};
  float largest = -INFINITY, total = 0.0f;
  for (uint first = begin / 32 * 32; first < end; first += 32) {
    const uint at = first + lane;
    const bool seen = at >= begin && at < end;
    const uint slot = (seen ? at : begin) % arguments.held;
    device const T* key = keys + slot / kKeyBlock * kKeyBlock * dim + slot % kKeyBlock;
    float score = 0.0f;
    for (uint d = 0; d < dim; ++d) score += query[d] * float(key[d * kKeyBlock]);
    score = seen ? score * arguments.scale : -INFINITY;
    const float now = max(largest, simd_max(score));
    // All scores so far are minus infinity: nothing is to be scaled, and their weights are 0 as it is.
    const float base = now == -INFINITY ? 0.0f : now;
    const float weight = precise::exp(score - base), fade = precise::exp(largest - base);
    total = total * fade + simd_sum(weight);
    largest = now;
    for (ushort i = 0; i < kMostDims; ++i) sums[i] *= fade;
    for (uint j = max(first, begin) - first; j < min(32u, end - first); ++j) {
      const float w = simd_broadcast(weight, ushort(j));
      device const T* value = values + (first + j) % arguments.held * dim;
      for (ushort i = 0; i < kMostDims; ++i) {
        const uint d = 32 * i + lane;
        if (d < dim) sums[i] += w * float(value[d]);
      }
    }
  }
  device float* to = y + row * arguments.v_stride + query_head * dim;
  for (ushort i = 0; i < kMostDims; ++i) {
    const uint d = 32 * i + lane;
    if (d < dim) to[d] = sums[i] / total;
  }
}

#define STATE(APPEND, ATTENTION, T)                                                                                \
  template [[host_name(APPEND)]] kernel void append_key_value<T>(constant KeyValueArguments&, device const float*, \
                                                                 device const float*, device T*, device const int*, \
                                                                 device const int*, uint3, ushort);                \
  template [[host_name(ATTENTION)]] kernel void attention<T>(constant KeyValueArguments&, device const float*,     \
                                                             device const T*, device const int*,                   \
                                                             device const int*, device float*, uint3, ushort);
STATE("append_key_value_f16", "attention_f16", half)
STATE("append_key_value_f32", "attention_f32", float)
