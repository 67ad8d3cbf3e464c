// Products over rows of F32, F16 and BF16 as they lie in the file, with fp32 activations.
//
// Up to kColumnsTokens: 64 partial sums per row, column k in sum k % 64; sums i, i + 16, i + 32 and i + 48 are added as
// (0 + 1) + (2 + 3), the 16 that are left by halves. The order does not depend on the number of tokens.
// More: 32 rows x kDepth columns are turned into a panel of fp32 with the rows side by side, which all tokens use;
// every result is one sum over the columns in order.
#pragma once

#include "cpu/linear-inl.hpp"

namespace soffit::cpu {

struct ElementF32 {
  static constexpr int kBytes = 4;
  template <class V>
  static typename V::Floats load(const uint8_t* p) {
    return V::load_floats(reinterpret_cast<const float*>(p));
  }
};
struct ElementF16 {
  static constexpr int kBytes = 2;
  template <class V>
  static typename V::Floats load(const uint8_t* p) {
    return V::halves(p);
  }
};
struct ElementBF16 {
  static constexpr int kBytes = 2;
  template <class V>
  static typename V::Floats load(const uint8_t* p) {
    return V::bfloats(p);
  }
};

inline constexpr int kRowChains = 4;
// Tokens that a panel is used for: their activations, 1088 B for every 256 columns, should stay in L2.
inline constexpr int64_t kFloatPanelTokens = 72;

// 16 elements of a row from column k on, zeros behind its end.
template <class V, class Element>
[[gnu::always_inline]] inline typename V::Floats load_elements(const uint8_t* row, int64_t k, int64_t cols) {
  if (k + 16 <= cols) return Element::template load<V>(row + k * Element::kBytes);
  alignas(64) uint8_t last[64] = {};
  if (k < cols) std::memcpy(last, row + k * Element::kBytes, size_t(cols - k) * Element::kBytes);
  return Element::template load<V>(last);
}

// One row and kTokens tokens.
template <class V, class Element, int kTokens>
[[gnu::always_inline]] inline void run_row(const LinearJob& job, int64_t row, const FloatBlock* const* first,
                                           float* const* y) {
  typename V::Floats sum[kTokens][kRowChains];
  for (int t = 0; t < kTokens; ++t)
    for (int c = 0; c < kRowChains; ++c) sum[t][c] = V::set(0.0f);
  const uint8_t* weights = job.weights + row * job.row_bytes;
  constexpr int kStep = 16 * kRowChains;
  for (int64_t k = 0; k < job.cols; k += kStep) {
    const uint8_t* at = weights + k * Element::kBytes;
    for (int line = 0; line < kStep * Element::kBytes; line += kVectorBytes) V::prefetch(at + line, kPrefetchBytes);
    typename V::Floats w[kRowChains];
    if (k + kStep <= job.cols)
      for (int c = 0; c < kRowChains; ++c) w[c] = Element::template load<V>(at + 16 * c * Element::kBytes);
    else
      for (int c = 0; c < kRowChains; ++c) w[c] = load_elements<V, Element>(weights, k + 16 * c, job.cols);
    for (int t = 0; t < kTokens; ++t) {
      const float* x = first[t][k / kBlockColumns * job.x_rows].x + k % kBlockColumns;
      for (int c = 0; c < kRowChains; ++c) sum[t][c] = V::fma(w[c], V::load_floats(x + 16 * c), sum[t][c]);
    }
  }
  for (int t = 0; t < kTokens; ++t)
    y[t][row] = V::sum(V::add(V::add(sum[t][0], sum[t][1]), V::add(sum[t][2], sum[t][3])));
}

template <class V, class Element, int kTokens>
[[gnu::flatten]] void run_rows(const LinearJob& job, int64_t token) {
  const FloatBlock* first[kTokens];
  float* y[kTokens];
  for (int t = 0; t < kTokens; ++t) {
    first[t] = static_cast<const FloatBlock*>(job.x) + index_or(job.x_index, token + t);
    y[t] = job.y + index_or(job.y_index, token + t) * job.y_stride;
  }
  for (int64_t row = 0; row < job.rows; ++row) run_row<V, Element, kTokens>(job, row, first, y);
}

template <class V>
struct FloatPanel {
  static constexpr int kDepth = 128, kTiles = V::kPanelTiles, kTokens = V::kFloatPanelColumns;
  static constexpr int kBand = kTiles * kTileRows;
  alignas(64) float w[kDepth][kTiles][kTileRows];

  // Columns [k, k + depth) of up to kBand rows; rows that are not there repeat the last one and are not stored.
  template <class Element>
  [[gnu::flatten]] void load(const LinearJob& job, int64_t row, int64_t k, int64_t depth) {
    for (int r = 0; r < kTiles; ++r)
      for (int64_t c = 0; c < depth; c += 16) {
        typename V::Floats v[16];
        for (int i = 0; i < 16; ++i) {
          const int64_t from = std::min(row + r * kTileRows + i, job.rows - 1);
          const uint8_t* weights = job.weights + from * job.row_bytes;
          V::prefetch(weights + (k + c) * Element::kBytes, kDepth * Element::kBytes);
          v[i] = load_elements<V, Element>(weights, k + c, job.cols);
        }
        V::transpose(v, w[c][r], kBand);
      }
  }
};

// acc: (tokens, kBand) += panel * x, for kCount tokens.
template <class V, int kCount>
[[gnu::flatten, gnu::noinline]] void multiply_panel(const FloatPanel<V>& panel, const float* const* x, int64_t depth,
                                                    float* acc) {
  using P = FloatPanel<V>;
  typename V::Floats sum[kCount][P::kTiles];
  for (int t = 0; t < kCount; ++t)
    for (int r = 0; r < P::kTiles; ++r) sum[t][r] = V::load_floats(acc + t * P::kBand + r * kTileRows);
  for (int64_t k = 0; k < depth; ++k) {
    typename V::Floats w[P::kTiles];
    for (int r = 0; r < P::kTiles; ++r) w[r] = V::load_floats(panel.w[k][r]);
    for (int t = 0; t < kCount; ++t) {
      const auto xk = V::set(x[t][k]);
      for (int r = 0; r < P::kTiles; ++r) sum[t][r] = V::fma(w[r], xk, sum[t][r]);
    }
  }
  for (int t = 0; t < kCount; ++t)
    for (int r = 0; r < P::kTiles; ++r) V::store(acc + t * P::kBand + r * kTileRows, sum[t][r]);
}

template <class V, class Element>
void run_plain_panel(const LinearJob& job) {
  using P = FloatPanel<V>;
  static_assert(sizeof(P) <= 64 * 1024 && P::kBand <= 32);
  auto* panel = reinterpret_cast<P*>(job.scratch);
  auto* acc = reinterpret_cast<float*>(job.scratch + 64 * 1024);  // (tokens, kBand)
  const auto* x = static_cast<const FloatBlock*>(job.x);
  for (int64_t token0 = 0; token0 < job.n; token0 += kFloatPanelTokens) {
    const int64_t tokens = std::min(kFloatPanelTokens, job.n - token0);
    for (int64_t row = 0; row < job.rows; row += P::kBand) {
      std::memset(acc, 0, size_t(tokens) * P::kBand * sizeof(float));
      for (int64_t k = 0; k < job.cols; k += P::kDepth) {
        const int64_t depth = std::min<int64_t>(P::kDepth, job.cols - k);
        panel->template load<Element>(job, row, k, depth);
        const float* at[P::kTokens];
        int64_t t = 0;
        const auto some = [&]<int kCount>() {
          for (; t + kCount <= tokens; t += kCount) {
            for (int i = 0; i < kCount; ++i)
              at[i] = x[k / kBlockColumns * job.x_rows + index_or(job.x_index, token0 + t + i)].x + k % kBlockColumns;
            multiply_panel<V, kCount>(*panel, at, depth, acc + t * P::kBand);
          }
        };
        some.template operator()<P::kTokens>();
        if constexpr (P::kTokens > 4) some.template operator()<4>();
        some.template operator()<1>();
      }
      for (int64_t t = 0; t < tokens; ++t) {
        float* y = job.y + index_or(job.y_index, token0 + t) * job.y_stride + row;
        std::memcpy(y, acc + t * P::kBand, size_t(std::min<int64_t>(P::kBand, job.rows - row)) * sizeof(float));
      }
    }
  }
}

template <class V, class Element>
void run_plain(const LinearJob& job) {
  if (job.n > kColumnsTokens) return run_plain_panel<V, Element>(job);
  int64_t t = 0;
  for (; t + 4 <= job.n; t += 4) run_rows<V, Element, 4>(job, t);
  for (; t + 2 <= job.n; t += 2) run_rows<V, Element, 2>(job, t);
  for (; t < job.n; ++t) run_rows<V, Element, 1>(job, t);
}

}  // namespace soffit::cpu
