// Root-mean-square norm: a simdgroup for each row.
#include "metal/graph_arguments.h"

using namespace soffit;

kernel void rms_norm(constant NormArguments& arguments [[buffer(0)]], device const float* x [[buffer(1)]],
                     device const float* weight [[buffer(2)]], device const float* residual [[buffer(3)]],
                     device float* y [[buffer(4)]], uint row [[threadgroup_position_in_grid]],
                     ushort lane [[thread_index_in_simdgroup]]) {
  device const float* from = x + row * arguments.x_stride;
  float squares = 0.0f;
  for (uint i = lane; i < arguments.cols; i += 32) squares += from[i] * from[i];
  const float mean = simd_sum(squares) / float(arguments.cols);
  const float factor = 1.0f / precise::sqrt(mean + arguments.epsilon);
  for (uint i = lane; i < arguments.cols; i += 32) {
    float v = from[i] * factor * weight[i];
    if (arguments.has_residual) v += residual[row * arguments.residual_stride + i];
    y[row * arguments.y_stride + i] = v;
  }
}
