// Matrix times vectors over tiles, for any tile type and instruction set. Compiled once per instruction set.
//
// int8 arithmetic. With p_g the exact integer sum of code * q over group g (bias corrected), S_g its scale, M_g its
// minimum:
//   256 form:  acc = fma(a, scale_x, acc) per tile,  a = sum over g of  fma(p_g, S_g, a), then fnma(M_g, sum(q), a)
//   32 form:   acc = fma(p, S * scale_x, acc), then fnma(M, scale_x * sum(q), acc)
// in this order whatever the number of tokens, so that a column of a batch equals the single call bit for bit.
//
// Error against exact weights and exact x, per row: |x - scale q| <= scale / 2 gives  sum |w| scale_x / 2;  the fp32
// part adds at most (terms + 3) * 2^-24 relative to the sum of absolute values: see tests/cpu/bounds.hpp, which derives
// and checks it.
#pragma once

#include <algorithm>
#include <cstring>

#include "cpu/kernels.hpp"
#include "cpu/tiles/tile.hpp"
#include "cpu/vector_common.hpp"

namespace soffit::cpu {

template <class Tile>
inline constexpr int kGroups = std::max(1, Tile::kColumns / Tile::kGroupColumns);
// Groups inside a chunk (two of 16 columns) or chunks inside a group (of 256).
template <class Tile>
inline constexpr int kGroupsInChunk = std::max(1, 32 / Tile::kGroupColumns);
template <class Tile>
inline constexpr int kGroupSteps = std::min(Tile::kGroupColumns / 4, Tile::kChunkSteps);

inline constexpr int kPrefetchBytes = 4096;

// Starts the integer accumulator of a group at minus bias times the sum of its activations.
template <class V, class Tile, class Partial>
[[gnu::always_inline]] inline void start_group(Partial& p, const QuantisedBlock& x, int group) {
  if constexpr (Tile::kBias == 0 || (V::kSignedCodes && Tile::kMaxCode > 127))
    p.clear();
  else if constexpr (Tile::kGroupColumns == 256)
    p.start(&x.start256);
  else if constexpr (Tile::kBias == 128)
    p.start(&x.start128[group]);
  else if constexpr (Tile::kForm == ActivationForm::int8_32)
    p.start(&x.start[Tile::kBias == 8 ? group : 8 + group]);
  else {
    static_assert(Tile::kGroupColumns == 16 && (Tile::kBias == 32 || Tile::kBias == 4));
    p.start(&x.start[group]);
    if constexpr (Tile::kBias == 4) p.template divide_start<3>();
  }
}

struct GroupScales {
  alignas(64) float scale[16][16], minimum[16][16];
};

// Adds one group's product to `a`, the accumulator of the tile (256 form) or of the row (32 form).
template <class V, class Tile>
[[gnu::always_inline]] inline void add_group(typename V::Ints product, typename V::Floats scale,
                                             typename V::Floats minimum, const QuantisedBlock& x, int group,
                                             typename V::Floats& a) {
  const auto p = V::to_float(product);
  if constexpr (Tile::kForm == ActivationForm::int8_32)
    a = V::fma(p, V::mul(scale, V::set(x.scale[group])), a);
  else
    a = V::fma(p, scale, a);
  if constexpr (Tile::kMinimum)
    a = V::fnma(minimum, V::set(Tile::kGroupColumns == 16 ? x.sum16[group] : x.sum32[group]), a);
}

// One tile against kTokens tokens. `first` is the tile's first group inside the 256 columns of x.
template <class V, class Tile, int kTokens>
[[gnu::always_inline]] inline void add_tile(const uint8_t* tile, const QuantisedBlock* const* x, int first,
                                            typename V::Floats* acc) {
  using Partial = typename V::template Partial<Tile::kMaxCode>;
  GroupScales s;
  Tile::template scales<V>(tile, s.scale, s.minimum);
  typename V::Floats a[kTokens];
  constexpr bool kDirect = Tile::kForm == ActivationForm::int8_32;
  for (int t = 0; t < kTokens; ++t) a[t] = kDirect ? acc[t] : V::set(0.0f);

  // A group of 256 columns is one long chain of additions; with few tokens it is cut into several that run side by
  // side.
  constexpr int kChains = Tile::kGroupColumns != 256 || kTokens > 2 ? 1 : 4 / kTokens;
  Partial p[kTokens][kChains];
  if constexpr (Tile::kGroupColumns == 256)
    for (int t = 0; t < kTokens; ++t)
      for (int c = 0; c < kChains; ++c) c == 0 ? start_group<V, Tile>(p[t][c], *x[t], 0) : p[t][c].clear();
  for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
    constexpr int kChunkBytes = Tile::kBytes / Tile::kChunks;
    for (int line = 0; line < kChunkBytes + kVectorBytes - 1; line += kVectorBytes)
      V::prefetch(tile + chunk * kChunkBytes + line, kPrefetchBytes);
    const int64_t column = 32 * first + int64_t(chunk) * Tile::kChunkSteps * 4;
    unroll<kGroupsInChunk<Tile>>([&](auto half) {
      const int group = chunk * kGroupsInChunk<Tile> + decltype(half)::value;
      if constexpr (Tile::kGroupColumns != 256)
        for (int t = 0; t < kTokens; ++t) start_group<V, Tile>(p[t][0], *x[t], first + group);
      unroll<kGroupSteps<Tile>>([&](auto i) {
        constexpr int kStep = decltype(half)::value * kGroupSteps<Tile> + decltype(i)::value;
        const auto codes = Tile::template codes<V, kStep>(tile, chunk);
        for (int t = 0; t < kTokens; ++t) p[t][kStep % kChains].step(codes, x[t]->q + column + 4 * kStep);
      });
      if constexpr (Tile::kGroupColumns != 256) {
        const auto scale = V::load_floats(s.scale[group]), minimum = V::load_floats(s.minimum[group]);
        for (int t = 0; t < kTokens; ++t)
          add_group<V, Tile>(p[t][0].total(), scale, minimum, *x[t], first + group, a[t]);
      }
    });
  }
  if constexpr (Tile::kGroupColumns == 256)
    for (int t = 0; t < kTokens; ++t) {
      auto sum = p[t][0].total();
      for (int c = 1; c < kChains; ++c) sum = V::add(sum, p[t][c].total());
      a[t] = V::fma(V::to_float(sum), V::load_floats(s.scale[0]), a[t]);
    }
  for (int t = 0; t < kTokens; ++t) acc[t] = kDirect ? a[t] : V::fma(a[t], V::set(x[t]->scale[0]), acc[t]);
}

inline int64_t index_or(const int32_t* index, int64_t i) { return index ? index[i] : i; }

// Stores the first `rows` lanes.
template <class V>
[[gnu::always_inline]] inline void store_rows(float* y, typename V::Floats v, int64_t rows) {
  if (rows >= kTileRows) return V::store(y, v);
  alignas(64) float lanes[kTileRows];
  V::store(lanes, v);
  std::memcpy(y, lanes, size_t(rows) * sizeof(float));
}

// Tiles of the 256 columns that block b covers.
template <class Tile>
int64_t tiles_in_block(int64_t cols, int64_t b) {
  return std::min<int64_t>((cols - kBlockColumns * b) / Tile::kColumns, kBlockColumns / Tile::kColumns);
}

// Few tokens: each tile is decoded once for kTokens of them.
template <class V, class Tile, int kTokens>
[[gnu::flatten]] void run_columns(const LinearJob& job, int64_t token) {
  const auto* x = static_cast<const QuantisedBlock*>(job.x);
  const QuantisedBlock* first[kTokens];
  float* y[kTokens];
  for (int t = 0; t < kTokens; ++t) {
    first[t] = x + index_or(job.x_index, token + t);
    y[t] = job.y + index_or(job.y_index, token + t) * job.y_stride;
  }
  const int64_t blocks = (job.cols + kBlockColumns - 1) / kBlockColumns;
  for (int64_t row = 0; row < job.rows; row += kTileRows) {
    const uint8_t* tile = job.weights + row / kTileRows * job.row_bytes;
    typename V::Floats acc[kTokens];
    for (int t = 0; t < kTokens; ++t) acc[t] = V::set(0.0f);
    for (int64_t b = 0; b < blocks; ++b) {
      const QuantisedBlock* at[kTokens];
      for (int t = 0; t < kTokens; ++t) at[t] = first[t] + b * job.x_rows;
      const int64_t tiles = Tile::kColumns == kBlockColumns ? 1 : tiles_in_block<Tile>(job.cols, b);
      for (int64_t i = 0; i < tiles; ++i, tile += Tile::kBytes) add_tile<V, Tile, kTokens>(tile, at, int(i), acc);
    }
    for (int t = 0; t < kTokens; ++t) store_rows<V>(y[t] + row, acc[t], job.rows - row);
  }
}

// Many tokens: kPanelTiles row tiles x 256 columns are decoded into a panel in L1 that all tokens use.
template <class V, class Tile>
struct Panel {
  static constexpr int kTiles = V::kPanelTiles, kTokens = V::kPanelColumns;
  static constexpr int kSteps = 64, kSumGroups = Tile::kGroupColumns == 256 ? 1 : 256 / Tile::kGroupColumns;
  alignas(64) uint8_t codes[kSteps][kTiles][64];
  alignas(64) float scale[kSumGroups][kTiles][16], minimum[kSumGroups][kTiles][16];

  // `columns` of the 256 are there; groups beyond them are left alone and not used.
  [[gnu::flatten]] void decode(const uint8_t* tile, int64_t tiles, int r) {
    for (int64_t i = 0; i < tiles; ++i, tile += Tile::kBytes) {
      for (int line = 0; line < Tile::kBytes + kVectorBytes - 1; line += kVectorBytes)
        V::prefetch(tile + line, kPrefetchBytes);
      GroupScales s;
      Tile::template scales<V>(tile, s.scale, s.minimum);
      const int group0 = int(i) * kGroups<Tile>;
      for (int g = 0; g < kGroups<Tile>; ++g) {
        std::memcpy(scale[group0 + g][r], s.scale[g], 64);
        if (Tile::kMinimum) std::memcpy(minimum[group0 + g][r], s.minimum[g], 64);
      }
      const int step0 = int(i) * (Tile::kColumns / 4);
      for (int chunk = 0; chunk < Tile::kChunks; ++chunk)
        unroll<Tile::kChunkSteps>([&](auto step) {
          const int at = step0 + chunk * Tile::kChunkSteps + step;
          if (Tile::kChunks * Tile::kChunkSteps == kSteps || at < kSteps)
            V::store_bytes(codes[at][r], Tile::template codes<V, decltype(step)::value>(tile, chunk));
        });
    }
  }

  template <int kCount>
  [[gnu::flatten]] void multiply(const QuantisedBlock* const* x, int groups, float* acc) const {
    using Partial = typename V::template Partial<Tile::kMaxCode>;
    constexpr bool kDirect = Tile::kForm == ActivationForm::int8_32;
    constexpr int kStepsInGroup = kSteps / kSumGroups;
    typename V::Floats a[kCount][kTiles];
    for (int t = 0; t < kCount; ++t)
      for (int r = 0; r < kTiles; ++r) a[t][r] = kDirect ? V::load_floats(acc + (t * kTiles + r) * 16) : V::set(0.0f);
    for (int g = 0; g < groups; ++g) {
      Partial p[kCount][kTiles];
      for (int t = 0; t < kCount; ++t)
        for (int r = 0; r < kTiles; ++r) start_group<V, Tile>(p[t][r], *x[t], g);
      constexpr int kUnroll = std::min(8, kStepsInGroup);
      for (int step = 0; step < kStepsInGroup; step += kUnroll)
        unroll<kUnroll>([&](auto i) {
          const int at = g * kStepsInGroup + step + i;
          typename V::Bytes w[kTiles];
          for (int r = 0; r < kTiles; ++r) w[r] = V::load(codes[at][r]);
          for (int t = 0; t < kCount; ++t)
            for (int r = 0; r < kTiles; ++r) p[t][r].step(w[r], x[t]->q + 4 * at);
        });
      for (int r = 0; r < kTiles; ++r) {
        const auto s = V::load_floats(scale[g][r]), m = V::load_floats(minimum[g][r]);
        for (int t = 0; t < kCount; ++t) {
          if constexpr (Tile::kGroupColumns == 256)
            a[t][r] = V::fma(V::to_float(p[t][r].total()), s, a[t][r]);
          else
            add_group<V, Tile>(p[t][r].total(), s, m, *x[t], g, a[t][r]);
        }
      }
    }
    for (int t = 0; t < kCount; ++t)
      for (int r = 0; r < kTiles; ++r) {
        float* to = acc + (t * kTiles + r) * 16;
        V::store(to, kDirect ? a[t][r] : V::fma(a[t][r], V::set(x[t]->scale[0]), V::load_floats(to)));
      }
  }
};

template <class V, class Tile>
void run_panel(const LinearJob& job) {
  using P = Panel<V, Tile>;
  static_assert(sizeof(P) <= 64 * 1024 && V::kPanelTiles <= 2);
  auto* panel = reinterpret_cast<P*>(job.scratch);
  auto* acc = reinterpret_cast<float*>(job.scratch + 64 * 1024);  // (tokens, kPanelTiles, 16)
  constexpr int kBand = P::kTiles * kTileRows;
  const auto* x = static_cast<const QuantisedBlock*>(job.x);
  const int64_t blocks = (job.cols + kBlockColumns - 1) / kBlockColumns;
  for (int64_t token0 = 0; token0 < job.n; token0 += kPanelTokens) {
    const int64_t tokens = std::min(kPanelTokens, job.n - token0);
    for (int64_t row = 0; row < job.rows; row += kBand) {
      const int tiles = int(std::min<int64_t>(P::kTiles, (job.rows - row + kTileRows - 1) / kTileRows));
      std::memset(acc, 0, size_t(tokens) * kBand * sizeof(float));
      for (int64_t b = 0; b < blocks; ++b) {
        const int64_t count = Tile::kColumns == kBlockColumns ? 1 : tiles_in_block<Tile>(job.cols, b);
        for (int r = 0; r < P::kTiles; ++r) {
          // A missing second tile repeats the first; its results are not stored.
          const int64_t row_tile = row / kTileRows + (r < tiles ? r : 0);
          panel->decode(job.weights + row_tile * job.row_bytes + b * (kBlockColumns / Tile::kColumns) * Tile::kBytes,
                        count, r);
        }
        const int groups = Tile::kColumns == kBlockColumns ? P::kSumGroups : int(count);
        const QuantisedBlock* at[P::kTokens];
        int64_t t = 0;
        const auto some = [&]<int kCount>() {
          for (; t + kCount <= tokens; t += kCount) {
            for (int i = 0; i < kCount; ++i) at[i] = x + b * job.x_rows + index_or(job.x_index, token0 + t + i);
            panel->template multiply<kCount>(at, groups, acc + t * kBand);
          }
        };
        some.template operator()<P::kTokens>();
        if constexpr (P::kTokens > 4) some.template operator()<4>();
        if constexpr (P::kTokens > 2) some.template operator()<2>();
        some.template operator()<1>();
      }
      for (int64_t t = 0; t < tokens; ++t)
        for (int r = 0; r < tiles; ++r)
          store_rows<V>(job.y + index_or(job.y_index, token0 + t) * job.y_stride + row + r * kTileRows,
                        V::load_floats(acc + (t * P::kTiles + r) * 16), job.rows - row - r * kTileRows);
    }
  }
}

template <class V, class Tile>
void run_linear(const LinearJob& job) {
  if (job.n > V::kColumns) return run_panel<V, Tile>(job);
  int64_t t = 0;
  if constexpr (V::kColumns >= 8)
    for (; t + 8 <= job.n; t += 8) run_columns<V, Tile, 8>(job, t);
  if constexpr (V::kColumns >= 4)
    for (; t + 4 <= job.n; t += 4) run_columns<V, Tile, 4>(job, t);
  if constexpr (V::kColumns >= 2)
    for (; t + 2 <= job.n; t += 2) run_columns<V, Tile, 2>(job, t);
  for (; t < job.n; ++t) run_columns<V, Tile, 1>(job, t);
}

}  // namespace soffit::cpu
