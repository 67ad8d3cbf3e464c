// RMS norm: a threadgroup for each row, of any number of whole simdgroups up to 32. Each thread sums every so many squares,
// simdgroups add theirs in pairs, and the first simdgroup what the others have.
#include "metal/graph_arguments.h"

using namespace soffit;

kernel void rms_norm(constant RmsNormArguments& arguments [[buffer(0)]], device const float* x [[buffer(1)]],
                     device const float* weight [[buffer(2)]], device const float* residual [[buffer(3)]],
                     device float* y [[buffer(4)]], uint row [[threadgroup_position_in_grid]],
                     uint index [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                     ushort lane [[thread_index_in_simdgroup]], ushort simdgroup [[simdgroup_index_in_threadgroup]],
                     ushort simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float sums[32];
  device const float* from = x + row * arguments.x_stride;
  float sum = 0.0f;
  for (uint i = index; i < arguments.cols; i += threads) sum += from[i] * from[i];
  sum = simd_sum(sum);
  if (lane == 0) sums[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = simd_sum(lane < simdgroups ? sums[lane] : 0.0f);
  const float factor = 1.0f / sqrt(sum / float(arguments.cols) + arguments.epsilon);
  for (uint i = index; i < arguments.cols; i += threads) {
    const float value = from[i] * factor * weight[i];
    y[row * arguments.y_stride + i] = arguments.has_residual ? value + residual[row * arguments.residual_stride + i] : value;
  }
}
