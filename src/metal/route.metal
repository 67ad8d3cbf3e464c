// Mixture of experts: which experts a row goes to, and their results together.
#include "metal/graph_arguments.h"

using namespace soffit;

constant constexpr ushort kMostExperts = 32;  // for each lane

// A simdgroup for each row. Experts of equal weight are taken in their order. fault[row] becomes 1 where logits are
// not finite.
kernel void route(constant RouteArguments& arguments [[buffer(0)]], device const float* logits [[buffer(1)]],
                  device int* ids [[buffer(2)]], device float* weights [[buffer(3)]], device uint* fault [[buffer(4)]],
                  uint row [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
  device const float* from = logits + row * arguments.logits_stride;
  float own[kMostExperts];
  float largest = -INFINITY;
  bool finite = true;
  for (ushort i = 0; i < kMostExperts; ++i) {
    const uint expert = 32 * i + lane;
    own[i] = expert < arguments.experts ? from[expert] : -INFINITY;
    if (expert < arguments.experts && !(fabs(own[i]) < INFINITY)) finite = false;
    largest = max(largest, own[i]);
  }
  largest = simd_max(largest);
  finite = simd_all(finite);
  if (lane == 0) fault[row] = finite ? 0 : 1;
  if (!finite) return; /* the whole simdgroup */
  float sum = 0.0f;
  for (ushort i = 0; i < kMostExperts; ++i) {
    own[i] = 32u * i + lane < arguments.experts ? precise::exp(own[i] - largest) : -1.0f;
    sum += max(own[i], 0.0f);
  }
  sum = simd_sum(sum);
  for (ushort i = 0; i < kMostExperts; ++i) own[i] = own[i] < 0.0f ? own[i] : own[i] / sum;

  float taken = 0.0f;
  device int* id = ids + row * arguments.ids_stride;
  device float* weight = weights + row * arguments.weights_stride;
  for (uint j = 0; j < arguments.used; ++j) {
    float best = -1.0f;
    uint place = 0xffffffffu;
    for (ushort i = 0; i < kMostExperts; ++i) {
      if (own[i] > best) {
        best = own[i];
        place = 32u * i + lane;
      }
    }
    const float most = simd_max(best);
    place = simd_min(best == most ? place : 0xffffffffu);
    for (ushort i = 0; i < kMostExperts; ++i) {
      if (32u * i + lane == place) own[i] = -1.0f;
    }
    taken += most;
    if (lane == 0) {
      id[j] = int(place);
      weight[j] = most;
    }
  }
  const float factor = arguments.scale / max(taken, 6.103515625e-5f);
  if (lane == 0) {
    for (uint j = 0; j < arguments.used; ++j) weight[j] *= factor;
  }
}

kernel void combine(constant CombineArguments& arguments [[buffer(0)]], device const float* x [[buffer(1)]],
                    device const float* weights [[buffer(2)]], device const float* residual [[buffer(3)]],
                    device float* y [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {
  const uint column = position.x, row = position.y;
  if (column >= arguments.cols) return;
  float sum = arguments.has_residual ? residual[row * arguments.residual_stride + column] : 0.0f;
  for (uint j = 0; j < arguments.used; ++j) {
    sum += weights[row * arguments.weights_stride + j] * x[(row * arguments.used + j) * arguments.x_stride + column];
  }
  y[row * arguments.y_stride + column] = sum;
}
