// Keys and values of a layer: K is float or half. Rows whose sequence or position there is no room for write nothing and have
// results of 0; check_ids tells of them.
#include "metal/graph_arguments.h"

using namespace soffit;

template <typename K>
kernel void append_key_value(constant KeyValueArguments& arguments [[buffer(0)]], device const float* k [[buffer(1)]],
                             device const float* v [[buffer(2)]], device K* keys [[buffer(3)]],
                             device K* values [[buffer(4)]], device const int* sequences [[buffer(5)]],
                             device const int* positions [[buffer(6)]], uint2 at [[thread_position_in_grid]]) {
  const uint sequence = uint(sequences[at.y]), position = uint(positions[at.y]);  // those below 0 become large
  if (at.x >= arguments.width || sequence >= arguments.sequences || position >= arguments.positions) return;
  const ulong to = sequence * arguments.sequence_stride + position * arguments.position_stride + at.x;
  keys[to] = K(k[at.y * arguments.k_stride + at.x]);
  values[to] = K(v[at.y * arguments.v_stride + at.x]);
}

template [[host_name("append_key_value_f32")]] kernel void append_key_value<float>(
    constant KeyValueArguments&, device const float*, device const float*, device float*, device float*,
    device const int*, device const int*, uint2);
template [[host_name("append_key_value_f16")]] kernel void append_key_value<half>(
    constant KeyValueArguments&, device const float*, device const float*, device half*, device half*,
    device const int*, device const int*, uint2);

constant constexpr ushort kMostElements = 16;  // of a head, for a lane

// Softmax of scaled products of a query with keys, times values: a threadgroup for each query head of each row, whose
// simdgroups take keys in turn and keep the largest product so far, the sum of exponentials and the sum of values, which are
// put together at the end. A lane has every 32nd element of a head.
template <typename K>
kernel void attention(constant AttentionArguments& arguments [[buffer(0)]], device const float* q [[buffer(1)]],
                      device const K* keys [[buffer(2)]], device const K* values [[buffer(3)]],
                      device const int* sequences [[buffer(4)]], device const int* positions [[buffer(5)]],
                      device float* y [[buffer(6)]], threadgroup float* shared [[threadgroup(0)]],
                      uint2 group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]],
                      ushort simdgroup [[simdgroup_index_in_threadgroup]],
                      ushort simdgroups [[simdgroups_per_threadgroup]]) {
  const uint sequence = uint(sequences[group.y]), position = uint(positions[group.y]);
  device float* result = y + group.y * arguments.y_stride + group.x * arguments.head_dim;
  if (sequence >= arguments.sequences || position >= arguments.positions) { // the whole threadgroup
    for (uint i = simdgroup * 32 + lane; i < arguments.head_dim; i += 32 * simdgroups) result[i] = 0.0f;
    return;
  }
  const ulong head = sequence * arguments.sequence_stride + group.x / arguments.heads_per_group * arguments.head_dim;
  device const float* from = q + group.y * arguments.q_stride + group.x * arguments.head_dim;
  const ushort own = (arguments.head_dim + 31 - lane) / 32;  // elements

  float query[kMostElements], sums[kMostElements];
  for (ushort e = 0; e < own; ++e) {
    query[e] = from[lane + 32 * e] * arguments.scale;
    sums[e] = 0.0f;
  }
  float largest = -INFINITY, total = 0.0f;
  const uint first = arguments.window != 0 && position >= arguments.window ? position + 1 - arguments.window : 0;
  for (uint j = first + simdgroup; j <= position; j += simdgroups) {
    device const K* key = keys + head + j * arguments.position_stride;
    float product = 0.0f;
    for (ushort e = 0; e < own; ++e) product += query[e] * float(key[lane + 32 * e]);
    product = simd_sum(product);
    const float before = largest;
    largest = max(largest, product);
    const float keep = exp(before - largest), weight = exp(product - largest);
    total = total * keep + weight;
    device const K* value = values + head + j * arguments.position_stride;
    for (ushort e = 0; e < own; ++e) sums[e] = sums[e] * keep + weight * float(value[lane + 32 * e]);
  }

  // Of each simdgroup the largest product and the total, then its sums.
  threadgroup float* heads = shared + 2 * simdgroups;
  if (lane == 0) {
    shared[2 * simdgroup] = largest;
    shared[2 * simdgroup + 1] = total;
  }
  for (ushort e = 0; e < own; ++e) heads[simdgroup * arguments.head_dim + lane + 32 * e] = sums[e];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float most = -INFINITY, whole = 0.0f;
  for (ushort s = 0; s < simdgroups; ++s) most = max(most, shared[2 * s]);
  for (ushort s = 0; s < simdgroups; ++s) whole += shared[2 * s + 1] * exp(shared[2 * s] - most);
  for (uint i = simdgroup * 32 + lane; i < arguments.head_dim; i += 32 * simdgroups) {
    float sum = 0.0f;
    for (ushort s = 0; s < simdgroups; ++s) sum += heads[s * arguments.head_dim + i] * exp(shared[2 * s] - most);
    result[i] = sum / whole;
  }
}

template [[host_name("attention_f32")]] kernel void attention<float>(
    constant AttentionArguments&, device const float*, device const float*, device const float*, device const int*,
    device const int*, device float*, threadgroup float*, uint2, ushort, ushort, ushort);
template [[host_name("attention_f16")]] kernel void attention<half>(
    constant AttentionArguments&, device const float*, device const half*, device const half*, device const int*,
    device const int*, device float*, threadgroup float*, uint2, ushort, ushort, ushort);
