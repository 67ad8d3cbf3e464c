// Kernels of which every count is known. Each lane computes one result from one word of `words` and one `x`.
#include <metal_stdlib>
using namespace metal;

#define ARGUMENTS                                                                                    \
  constant uint &size [[buffer(0)]], device const uint *words [[buffer(1)]],                         \
      device const float *x [[buffer(2)]], device float *y [[buffer(3)]],                            \
      uint index [[thread_position_in_grid]]

kernel void adds(ARGUMENTS) { y[index] = x[index] + 1.0f; }
kernel void multiplies(ARGUMENTS) { y[index] = x[index] * 3.0f; }
kernel void fuses(ARGUMENTS) { y[index] = x[index] * 3.0f + 1.0f; }
kernel void fuses_behind(ARGUMENTS) { y[index] = 1.0f - x[index] * 3.0f; }
kernel void fuses_into(ARGUMENTS) {
  float sum = 1.0f;
  sum += x[index] * x[index];
  y[index] = sum;
}
// A product that has been stored is rounded, and adding it costs.
kernel void stores_between(ARGUMENTS) {
  const float product = x[index] * 3.0f;
  y[index] = product + 1.0f;
}
kernel void two_products(ARGUMENTS) { y[index] = x[index] * 3.0f + x[index] * 5.0f; }
kernel void masks(ARGUMENTS) { y[index] = as_type<float>(words[index] & 0xff); }
kernel void masks_twice(ARGUMENTS) { y[index] = as_type<float>(words[index] & 0xff & 0xffff); }
kernel void shifts(ARGUMENTS) { y[index] = as_type<float>(words[index] >> 8); }
kernel void shifts_by_nothing(ARGUMENTS) { y[index] = as_type<float>(words[index] >> 0); }
kernel void multiplies_integers(ARGUMENTS) { y[index] = as_type<float>(words[index] * words[index]); }
kernel void converts(ARGUMENTS) { y[index] = float(words[index]); }
kernel void converts_by_cast(ARGUMENTS) { y[index] = (float)words[index]; }
kernel void converts_unasked(ARGUMENTS) { y[index] = x[index] * words[index]; }
kernel void converts_back(ARGUMENTS) { y[index] = as_type<float>(int(x[index])); }
kernel void widens(ARGUMENTS) { y[index] = as_type<float>(uint(ushort(words[index]))); }
kernel void halves(ARGUMENTS) { y[index] = float(half(x[index]) * half(x[index])) + 1.0f; }
kernel void floors(ARGUMENTS) { y[index] = floor(x[index]); }
kernel void selects(ARGUMENTS) { y[index] = x[index] > 2.0f ? x[index] : 7.0f; }
kernel void selects_by_call(ARGUMENTS) { y[index] = select(x[index], 7.0f, x[index] > 2.0f); }
kernel void clamps(ARGUMENTS) { y[index] = clamp(x[index], 0.0f, 1.0f); }
kernel void negates(ARGUMENTS) { y[index] = -x[index] + 1.0f; }
kernel void complements(ARGUMENTS) { y[index] = as_type<float>(~words[index]); }
kernel void divides_by_constant(ARGUMENTS) { y[index] = x[index] / 256.0f; }
kernel void divides(ARGUMENTS) { y[index] = x[index] / x[index]; }
kernel void takes_roots(ARGUMENTS) { y[index] = rsqrt(x[index]); }
kernel void dots(ARGUMENTS) {
  const float4 v = float4(x[index], x[index], x[index], x[index]);
  y[index] = dot(v, v);
}
kernel void adds_vectors(ARGUMENTS) {
  const float4 v = float4(x[index], x[index], x[index], x[index]);
  const float4 w = v * v + v;
  y[index] = w.x;
}
// 16 + 2 * 3: what is computed from positions and arguments alone is arithmetic of indices.
kernel void indexes(ARGUMENTS) { y[index] = x[(index * 16 / 16 + size - 32) % 32]; }
kernel void computes_constants(ARGUMENTS) {
  constexpr float scale = 1.0f / 256 * 3;
  y[index] = x[index] * scale;
}
// Half of the lanes take a product, half of them four: the simdgroup issues both.
kernel void diverges(ARGUMENTS) {
  float result = x[index];
  if (index % 2) {
    result = result * 3.0f;
  } else {
    result = result * 3.0f;
    result = result * 3.0f;
    result = result * 3.0f;
    result = result * 3.0f;
  }
  y[index] = result;
}
// The busiest lane goes round 31 times.
kernel void loops(ARGUMENTS) {
  float result = x[index];
  for (uint i = 0; i < index; ++i) result = result * 3.0f;
  y[index] = result;
}
inline float tripled(float v) { return v * 3.0f; }
// The function's product counts at both calls, though no lane makes both.
kernel void calls(ARGUMENTS) {
  float result;
  if (index % 2) {
    result = tripled(x[index]);
  } else {
    result = tripled(x[index]);
  }
  y[index] = result;
}
kernel void sums(ARGUMENTS) { y[index] = simd_sum(x[index]) + 1.0f; }
// A table's element that data has chosen is data.
constant float kTable[4] = {0.5f, 1.5f, 2.5f, 3.5f};
kernel void looks_up(ARGUMENTS) { y[index] = kTable[words[index] & 3] + 1.0f; }
// A variable keeps what it comes from, whatever its size; and so does memory looked at as another type.
kernel void stores_small(ARGUMENTS) {
  ushort words16[2];
  words16[0] = ushort(words[index]);
  words16[1] = 0;
  thread const uchar *bytes = reinterpret_cast<thread const uchar *>(words16);
  const uchar byte = bytes[1];
  y[index] = float(byte);
}
