// Rotary position embedding, after a norm of each head where there is one: a simdgroup for each row and head.
//
// An angle of 10^5 radians as one float would be off by 0.004. So angles are counted in turns, a pair's turns a position
// is the sum of two floats, and what a product with the position loses is put back before whole turns are taken off.
#include "metal/graph_arguments.h"

using namespace soffit;

kernel void rotate(constant RotateArguments& arguments [[buffer(0)]], device float* x [[buffer(1)]],
                   device const float* norm [[buffer(2)]], device const RotatePair* table [[buffer(3)]],
                   device const int* positions [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                   ushort lane [[thread_index_in_simdgroup]]) {
  device float* head = x + group.y * arguments.x_stride + group.x * arguments.head_dim;
  if (arguments.has_norm) {
    float squares = 0.0f;
    for (uint i = lane; i < arguments.head_dim; i += 32) squares += head[i] * head[i];
    const float mean = simd_sum(squares) / float(arguments.head_dim);
    const float factor = 1.0f / precise::sqrt(mean + arguments.epsilon);
    for (uint i = lane; i < arguments.head_dim; i += 32) head[i] = head[i] * factor * norm[i];
    simdgroup_barrier(mem_flags::mem_device);
  }
  // Of 24 bits each, so that both are exact.
  const int position = positions[group.y];
  const float low = float(position & 0xfff), high = float(position - (position & 0xfff));
  for (uint i = lane; i < arguments.pairs; i += 32) {
    const RotatePair pair = table[i];
    const float a = low * pair.turns, b = high * pair.turns;
    const float rest = fma(low, pair.turns, -a) + fma(high, pair.turns, -b) + float(position) * pair.turns_rest;
    float turn = ((a - rint(a)) + (b - rint(b))) + rest;
    turn -= rint(turn);
    const float angle = turn * 6.28318530717958647692f;
    const float cosine = precise::cos(angle) * pair.magnitude, sine = precise::sin(angle) * pair.magnitude;
    device float* first = head + (arguments.adjacent ? 2 * i : i);
    device float* second = head + (arguments.adjacent ? 2 * i + 1 : i + arguments.pairs);
    const float u = *first, v = *second;
    *first = u * cosine - v * sine;
    *second = u * sine + v * cosine;
  }
}
