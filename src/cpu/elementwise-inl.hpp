// Everything around the matrices, 16 lanes at a time: quantising activations, norms, gated activations, softmax.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/half.hpp"
#include "cpu/kernels.hpp"

namespace soffit::cpu {

// Calls f(from, to) for whole vectors of 16 and once for a zero-padded rest: f(index, count).
template <class V, class F>
[[gnu::always_inline]] inline void by_vectors(int64_t n, F&& f) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) f(i, int64_t(16));
  if (i < n) f(i, n - i);
}
template <class V>
[[gnu::always_inline]] inline typename V::Floats load_some(const float* p, int64_t count) {
  if (count >= 16) return V::load_floats(p);
  alignas(64) float lanes[16] = {};
  std::memcpy(lanes, p, size_t(count) * sizeof(float));
  return V::load_floats(lanes);
}
template <class V>
[[gnu::always_inline]] inline void store_some(float* p, typename V::Floats v, int64_t count) {
  if (count >= 16) return V::store(p, v);
  alignas(64) float lanes[16];
  V::store(lanes, v);
  std::memcpy(p, lanes, size_t(count) * sizeof(float));
}

// e^x within 2 ulp: x = n ln 2 + r, |r| <= ln 2 / 2, Taylor series of degree 7 (its remainder is below 6e-9). Arguments
// are clamped to [-87, 89]: results are normal numbers up to 2^127.5 and infinity above, and NaN stays NaN (min and max
// give their second argument when one is NaN).
template <class V>
[[gnu::always_inline]] inline typename V::Floats exponential(typename V::Floats x) {
  x = V::min(V::set(89.0f), V::max(V::set(-87.0f), x));
  const auto n = V::round(V::mul(x, V::set(1.44269504f)));
  // ln 2 in two parts: the first has 15 bits, so that n times it is exact.
  auto r = V::fnma(n, V::set(0.693145752f), x);
  r = V::fnma(n, V::set(1.42860677e-6f), r);
  auto p = V::set(1.0f / 5040);
  for (float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) p = V::fma(p, r, V::set(c));
  return V::scale2(p, n);
}

// A block whose largest value is so small that 127 / largest is no number: one by one in fp64.
[[gnu::always_inline]] inline void quantise_tiny(const float* x, int64_t count, float largest, int8_t* q,
                                                 float& scale) {
  scale = float(double(largest) / 127.0);
  for (int64_t i = 0; i < count; ++i) q[i] = int8_t(std::nearbyint(double(x[i]) * 127.0 / double(largest)));
}

// `columns` (a multiple of 16) of x, zero-padded, to int8 with one scale. An infinity or NaN makes the scale NaN, and
// so every result that reads it.
template <class V>
void quantise_range(const float* x, int columns, int8_t* q, float& scale) {
  auto largest = V::set(0.0f), poison = V::set(0.0f);
  for (int i = 0; i < columns; i += 16) {
    const auto v = V::load_floats(x + i);
    largest = V::max(largest, V::abs(v));
    poison = V::fma(v, V::set(0.0f), poison);
  }
  const float bad = V::sum(poison), m = V::largest(largest);
  if (m == 0.0f || bad != 0.0f) {
    std::memset(q, 0, size_t(columns));
    scale = bad;  // 0 or NaN
    return;
  }
  const float inverse = 127.0f / m;
  if (!(inverse < 3.0e38f)) return quantise_tiny(x, columns, m, q, scale);
  scale = m / 127.0f;
  for (int i = 0; i < columns; i += 16) V::store_int8(q + i, V::mul(V::load_floats(x + i), V::set(inverse)));
}

// With the 11 significant bits of fp16, but not its range. llama.cpp stores such scales as fp16; no nearer to its
// log-probabilities by measurement, but on the two test files near ties then fall as they do there.
[[gnu::always_inline]] inline float eleven_bits(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (!(x >= 0x1p-126f)) return x;
  return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~uint32_t(0x1fff));
}

template <class V>
void quantise_block(const float* x, ActivationForm form, QuantisedBlock& block) {
  if (form == ActivationForm::int8_32) {
    for (int j = 0; j < 8; ++j) quantise_range<V>(x + 32 * j, 32, block.q + 32 * j, block.scale[j]);
  } else {
    quantise_range<V>(x, 256, block.q, block.scale[0]);
    std::fill(block.scale + 1, block.scale + 8, block.scale[0]);
  }
  // Loops of one statement over all groups, which compilers turn into vectors.
  const bool of_32 = form == ActivationForm::int8_32;
  int32_t sum16[16], sum32[8], all = 0;
  for (int j = 0; j < 16; ++j) {
    int32_t sum = 0;
    for (int i = 0; i < 16; ++i) sum += block.q[16 * j + i];
    sum16[j] = sum;
  }
  for (int j = 0; j < 8; ++j) sum32[j] = sum16[2 * j] + sum16[2 * j + 1];
  for (int j = 0; j < 8; ++j) all += sum32[j];
  block.start256 = -all;
  for (int j = 0; j < 16; ++j) block.sum16[j] = float(sum16[j]);
  for (int j = 0; j < 16; ++j) block.high16[j] = int8_t((sum16[j] + 8) >> 4);
  for (int j = 0; j < 16; ++j) block.low16[j] = int8_t(sum16[j] - ((sum16[j] + 8) >> 4) * 16);
  for (int j = 0; j < 8; ++j) block.start128[j] = -128 * sum32[j];
  for (int j = 0; j < 8; ++j) block.high32[j] = int8_t((sum32[j] + 16) >> 5);
  for (int j = 0; j < 8; ++j) block.low32[j] = int8_t(sum32[j] - ((sum32[j] + 16) >> 5) * 32);
  if (of_32) {
    for (int j = 0; j < 8; ++j) block.sum32[j] = block.scale[j] * float(sum32[j]);
    for (float& scale : block.scale) scale = eleven_bits(scale);
    for (int j = 0; j < 8; ++j) block.start[j] = -8 * sum32[j];
    for (int j = 0; j < 8; ++j) block.start[8 + j] = -16 * sum32[j];
  } else {
    for (int j = 0; j < 8; ++j) block.sum32[j] = float(sum32[j]);
    for (int j = 0; j < 16; ++j) block.start[j] = -32 * sum16[j];
  }
  std::memset(block.unused, 0, sizeof block.unused);
}

template <class V>
void quantise(const float* x, int64_t cols, ActivationForm form, void* to, int64_t stride) {
  for (int64_t k = 0, b = 0; k < cols; k += kBlockColumns, ++b) {
    alignas(64) float padded[256];
    const float* from = x + k;
    if (cols - k < kBlockColumns) {
      std::memset(padded, 0, sizeof padded);
      std::memcpy(padded, from, size_t(cols - k) * sizeof(float));
      from = padded;
    }
    if (form != ActivationForm::float32) {
      quantise_block<V>(from, form, static_cast<QuantisedBlock*>(to)[b * stride]);
      continue;
    }
    auto& block = static_cast<FloatBlock*>(to)[b * stride];
    std::memcpy(block.x, from, sizeof block.x);
    for (int j = 0; j < 16; ++j) block.sum16[j] = V::sum(V::load_floats(block.x + 16 * j));
  }
}

template <class V>
double sum_squares(const float* x, int64_t n) {
  double total = 0;
  for (int64_t k = 0; k < n; k += 256) {
    auto sum = V::set(0.0f);
    by_vectors<V>(std::min<int64_t>(256, n - k), [&](int64_t i, int64_t count) {
      const auto v = load_some<V>(x + k + i, count);
      sum = V::fma(v, v, sum);
    });
    total += double(V::sum(sum));
  }
  return total;
}

template <class V>
void normalise(const float* x, float factor, const float* weight, const float* residual, float* y, int64_t n) {
  by_vectors<V>(n, [&](int64_t i, int64_t count) {
    auto v = V::mul(V::mul(load_some<V>(x + i, count), V::set(factor)), load_some<V>(weight + i, count));
    if (residual) v = V::add(v, load_some<V>(residual + i, count));
    store_some<V>(y + i, v, count);
  });
}

template <class V>
void gate(Activation activation, const float* g, const float* up, float* y, int64_t n) {
  by_vectors<V>(n, [&](int64_t i, int64_t count) {
    const auto x = load_some<V>(g + i, count);
    // Both are x / (1 + e^-u): u = x for SiLU; for GELU u = 2 sqrt(2/pi) (x + 0.044715 x^3), as 0.5 (1 + tanh(u / 2)) =
    // 1 / (1 + e^-u).
    auto u = x;
    if (activation == Activation::gelu_tanh)
      u = V::mul(V::set(1.5957691216f), V::fma(V::mul(V::set(0.044715f), V::mul(x, x)), x, x));
    const auto v = V::div(x, V::add(V::set(1.0f), exponential<V>(V::negate(u))));
    store_some<V>(y + i, V::mul(v, load_some<V>(up + i, count)), count);
  });
}

template <class V>
void add(const float* a, const float* b, float* y, int64_t n) {
  by_vectors<V>(n, [&](int64_t i, int64_t count) {
    store_some<V>(y + i, V::add(load_some<V>(a + i, count), load_some<V>(b + i, count)), count);
  });
}
template <class V>
void scale(const float* x, float factor, float* y, int64_t n) {
  by_vectors<V>(n, [&](int64_t i, int64_t count) {
    store_some<V>(y + i, V::mul(load_some<V>(x + i, count), V::set(factor)), count);
  });
}
template <class V>
void add_scaled(const float* x, float factor, float* y, int64_t n) {
  by_vectors<V>(n, [&](int64_t i, int64_t count) {
    store_some<V>(y + i, V::fma(load_some<V>(x + i, count), V::set(factor), load_some<V>(y + i, count)), count);
  });
}
template <class V>
void to_half(const float* x, uint16_t* y, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) V::store_halves(y + i, V::load_floats(x + i));
  for (; i < n; ++i) y[i] = float_to_half(x[i]);
}

template <class V>
void softmax(float* x, int64_t n) {
  if (n <= 0) return;
  float m = x[0];
  for (int64_t i = 1; i < n; ++i) m = std::max(m, x[i]);
  auto total = V::set(0.0f);
  by_vectors<V>(n, [&](int64_t i, int64_t count) {
    const auto e = exponential<V>(V::sub(load_some<V>(x + i, count), V::set(m)));
    store_some<V>(x + i, e, count);
    total = V::add(total, count >= 16 ? e : load_some<V>(x + i, count));
  });
  scale<V>(x, 1.0f / V::sum(total), x, n);
}

}  // namespace soffit::cpu
