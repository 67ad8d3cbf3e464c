// What happens to a product's results (see Epilogue), and conversions between types of activations: then there is
// nothing to do but to convert.
#include "metal/graph_arguments.h"
#include "metal/activation.h"

using namespace soffit;

template <typename X, typename Y>
kernel void finish(constant FinishArguments& arguments [[buffer(0)]], device const X* x [[buffer(1)]],
                   device const float* bias [[buffer(2)]], device const float* residual [[buffer(3)]],
                   device Y* y [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {
  const uint column = position.x, row = position.y;
  if (column >= arguments.cols) return;
  device const X* from = x + row * arguments.x_stride;
  float v = float(from[column]) * arguments.scale;
  if (arguments.has_bias) v += bias[column];
  if (arguments.gate) {
    float up = float(from[arguments.up + column]) * arguments.scale;
    if (arguments.has_bias) up += bias[arguments.up + column];
    v = activated(arguments.gate, v) * up;
  }
  if (arguments.has_residual) v += residual[row * arguments.residual_stride + column];
  y[row * arguments.y_stride + column] = Y(v);
}

#define FINISH(NAME, X, Y)                                                                                       \
  template [[host_name(NAME)]] kernel void finish<X, Y>(constant FinishArguments&, device const X*,             \
                                                        device const float*, device const float*, device Y*, uint3);
FINISH("finish_f32_f32", float, float)
FINISH("finish_f32_f16", float, half)
FINISH("finish_f32_bf16", float, bfloat)
FINISH("finish_f16_f32", half, float)
FINISH("finish_bf16_f32", bfloat, float)
