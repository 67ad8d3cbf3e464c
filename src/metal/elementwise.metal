// What goes element by element: a thread for each, in a grid of columns and rows.
#include "metal/activations.h"
#include "metal/graph_arguments.h"

using namespace soffit;

kernel void gated_activation(constant GatedArguments& arguments [[buffer(0)]], device const float* gate [[buffer(1)]],
                             device const float* up [[buffer(2)]], device float* y [[buffer(3)]],
                             uint2 at [[thread_position_in_grid]]) {
  if (at.x >= arguments.cols) return;
  const float g = gate[at.y * arguments.gate_stride + at.x];
  y[at.y * arguments.y_stride + at.x] = (arguments.gelu ? gelu(g) : silu(g)) * up[at.y * arguments.up_stride + at.x];
}

kernel void epilogue(constant EpilogueArguments& arguments [[buffer(0)]], device const float* x [[buffer(1)]],
                     device const float* bias [[buffer(2)]], device const float* residual [[buffer(3)]],
                     device float* y [[buffer(4)]], uint2 at [[thread_position_in_grid]]) {
  if (at.x >= arguments.cols) return;
  device const float* from = x + at.y * arguments.x_stride;
  float value = from[at.x] * arguments.scale;
  if (arguments.has_bias) value += bias[at.x];
  if (arguments.gate) {
    float up = from[arguments.cols + at.x] * arguments.scale;
    if (arguments.has_bias) up += bias[arguments.cols + at.x];
    value = (arguments.gate == 2 ? gelu(value) : silu(value)) * up;
  }
  if (arguments.has_residual) value += residual[at.y * arguments.residual_stride + at.x];
  y[at.y * arguments.y_stride + at.x] = value;
}

kernel void combine(constant CombineArguments& arguments [[buffer(0)]], device const float* x [[buffer(1)]],
                    device const float* weights [[buffer(2)]], device const float* residual [[buffer(3)]],
                    device float* y [[buffer(4)]], uint2 at [[thread_position_in_grid]]) {
  if (at.x >= arguments.cols) return;
  float sum = arguments.has_residual ? residual[at.y * arguments.residual_stride + at.x] : 0.0f;
  for (uint j = 0; j < arguments.used; ++j) {
    sum += weights[at.y * arguments.weights_stride + j] * x[(at.y * arguments.used + j) * arguments.x_stride + at.x];
  }
  y[at.y * arguments.y_stride + at.x] = sum;
}

kernel void gather(constant GatherArguments& arguments [[buffer(0)]], device const float* x [[buffer(1)]],
                   device const int* ids [[buffer(2)]], device float* y [[buffer(3)]],
                   uint2 at [[thread_position_in_grid]]) {
  const int id = ids[at.y];
  if (at.x >= arguments.cols || id < 0 || uint(id) >= arguments.rows) return;
  y[at.y * arguments.y_stride + at.x] = x[uint(id) * arguments.x_stride + at.x];
}

kernel void add(constant ElementwiseArguments& arguments [[buffer(0)]], device const float* a [[buffer(1)]],
                device const float* b [[buffer(2)]], device float* y [[buffer(3)]],
                uint2 at [[thread_position_in_grid]]) {
  if (at.x >= arguments.cols) return;
  y[at.y * arguments.y_stride + at.x] = a[at.y * arguments.a_stride + at.x] + b[at.y * arguments.b_stride + at.x];
}

kernel void scale(constant ElementwiseArguments& arguments [[buffer(0)]], device const float* a [[buffer(1)]],
                  device float* y [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
  if (at.x >= arguments.cols) return;
  y[at.y * arguments.y_stride + at.x] = a[at.y * arguments.a_stride + at.x] * arguments.factor;
}

kernel void soft_cap(constant ElementwiseArguments& arguments [[buffer(0)]], device const float* a [[buffer(1)]],
                     device float* y [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
  if (at.x >= arguments.cols) return;
  const float x = a[at.y * arguments.a_stride + at.x] / arguments.factor;
  y[at.y * arguments.y_stride + at.x] = arguments.factor * tanh(x);
}

template <typename X, typename Y>
kernel void convert(constant ConvertArguments& arguments [[buffer(0)]], device const X* x [[buffer(1)]],
                    device Y* y [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
  if (at.x >= arguments.cols) return;
  y[at.y * arguments.y_stride + at.x] = Y(float(x[at.y * arguments.x_stride + at.x]));
}

#define SOFFIT_CONVERT(NAME, FROM, TO)                                  \
  template [[host_name(NAME)]] kernel void convert<FROM, TO>(constant ConvertArguments&, device const FROM*, device TO*, \
                                                             uint2);
SOFFIT_CONVERT("convert_f32_f32", float, float)
SOFFIT_CONVERT("convert_f32_f16", float, half)
SOFFIT_CONVERT("convert_f32_bf16", float, bfloat)
SOFFIT_CONVERT("convert_f16_f32", half, float)
SOFFIT_CONVERT("convert_bf16_f32", bfloat, float)
