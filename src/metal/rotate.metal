// Rotary position embedding of heads in place, after an RMS norm of each if there is one: a simdgroup for each head, whose lanes
// have pairs. An angle is a position times its turns, less the whole ones: the product's error is had from an fma, so that
// nothing is lost at any position below 2^24. Fast math may drop that term: compile without.
#include "metal/graph_arguments.h"

using namespace soffit;

kernel void rotate_heads(constant RotateArguments& arguments [[buffer(0)]], device float* x [[buffer(1)]],
                   device const float* norm [[buffer(2)]], device const float2* turns [[buffer(3)]],
                   device const int* positions [[buffer(4)]], uint2 group [[threadgroup_position_in_grid]],
                   ushort lane [[thread_index_in_simdgroup]]) {
  device float* head = x + group.y * arguments.x_stride + group.x * arguments.head_dim;
  if (arguments.has_norm) {
    float sum = 0.0f;
    for (uint i = lane; i < arguments.head_dim; i += 32) sum += head[i] * head[i];
    sum = simd_sum(sum);
    const float factor = 1.0f / sqrt(sum / float(arguments.head_dim) + arguments.epsilon);
    for (uint i = lane; i < arguments.head_dim; i += 32) head[i] = head[i] * factor * norm[i];
    simdgroup_barrier(mem_flags::mem_device);
  }
  const float position = float(positions[group.y]);
  for (uint i = lane; i < arguments.pairs; i += 32) {
    const float2 turn = turns[i];
    const float whole = position * turn.x, lost = fma(position, turn.x, -whole);
    const float part = (whole - rint(whole)) + fma(position, turn.y, lost);
    const float angle = part * 6.28318530717958648f;
    const float cosine = cos(angle) * arguments.magnitude, sine = sin(angle) * arguments.magnitude;
    const uint first = arguments.adjacent ? 2 * i : i, second = arguments.adjacent ? 2 * i + 1 : i + arguments.pairs;
    const float a = head[first], b = head[second];
    head[first] = a * cosine - b * sine;
    head[second] = a * sine + b * cosine;
  }
}
