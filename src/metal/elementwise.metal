// One element of the result a thread.
#include "metal/graph_arguments.h"
#include "metal/activation.h"

using namespace soffit;

kernel void gated_activation(constant GateArguments& arguments [[buffer(0)]], device const float* gate [[buffer(1)]],
                             device const float* up [[buffer(2)]], device float* y [[buffer(3)]],
                             uint3 position [[thread_position_in_grid]]) {
  const uint column = position.x, row = position.y;
  if (column >= arguments.cols) return;
  y[row * arguments.y_stride + column] = activated(arguments.gate, gate[row * arguments.gate_stride + column]) *
                                         up[row * arguments.up_stride + column];
}

kernel void add(constant ElementwiseArguments& arguments [[buffer(0)]], device const float* a [[buffer(1)]],
                device const float* b [[buffer(2)]], device float* y [[buffer(3)]],
                uint3 position [[thread_position_in_grid]]) {
  const uint column = position.x, row = position.y;
  if (column >= arguments.cols) return;
  y[row * arguments.y_stride + column] = a[row * arguments.a_stride + column] + b[row * arguments.b_stride + column];
}

kernel void scale(constant ElementwiseArguments& arguments [[buffer(0)]], device const float* a [[buffer(1)]],
                  device float* y [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {
  const uint column = position.x, row = position.y;
  if (column >= arguments.cols) return;
  y[row * arguments.y_stride + column] = arguments.factor * a[row * arguments.a_stride + column];
}

kernel void soft_cap(constant ElementwiseArguments& arguments [[buffer(0)]], device const float* a [[buffer(1)]],
                     device float* y [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {
  const uint column = position.x, row = position.y;
  if (column >= arguments.cols) return;
  y[row * arguments.y_stride + column] =
      arguments.factor * precise::tanh(a[row * arguments.a_stride + column] / arguments.factor);
}

// A row whose id is none is left as it is: check_ids tells of it.
kernel void gather(constant ElementwiseArguments& arguments [[buffer(0)]], device const float* a [[buffer(1)]],
                   device const int* ids [[buffer(2)]], device float* y [[buffer(3)]],
                   uint3 position [[thread_position_in_grid]]) {
  const uint column = position.x, row = position.y;
  if (column >= arguments.cols) return;
  const int id = ids[row];
  if (id < 0 || uint(id) >= arguments.rows) return;
  y[row * arguments.y_stride + column] = a[uint(id) * arguments.a_stride + column];
}
