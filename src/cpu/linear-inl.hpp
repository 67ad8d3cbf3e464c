// Matrix times vectors over tiles, for any tile type and instruction set. Compiled once per instruction set.
//
// int8 arithmetic. With p_g the exact integer sum of code * q over group g (bias corrected), s_g its integer scale, m_g
// its minimum and sum_g the sum of its q:
//   256 form:  columns: a = fl(sum over g of p_g s_g) * d,  a = fnma(fl(sum over g of m_g sum_g), dmin, a)  per tile;
//              panel:   a = sum over g of  fma(p_g, fl(s_g d), a), then fnma(fl(m_g dmin), sum_g, a);
//              acc = fma(a, scale_x, acc) per tile.
//   32 form:   acc = fma(p, fl(d scale_x), acc), then fnma(m, scale_x * sum(q), acc)
// in this order whatever the number of tokens, so that up to kColumnsTokens a column of a batch equals the single call
// bit for bit. Integer sums over a tile are below 2^28.
//
// Error against exact weights and exact x, per row: |x - scale q| <= scale / 2 gives  sum |w| scale_x / 2;  the fp32
// part adds at most (terms + 3) * 2^-24 relative to the sum of absolute values: see src/check/bounds.hpp, which derives
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

// Scales and minima of all groups as floats.
struct GroupScales {
  alignas(64) float scale[16][16], minimum[16][16];
};
template <class V, class Tile>
[[gnu::always_inline]] inline void group_scales(const uint8_t* tile, GroupScales& s) {
  const auto factor = Tile::template factor<V>(tile);
  if constexpr (kGroups<Tile> == 1) {
    V::store(s.scale[0], factor);
    if constexpr (Tile::kMinimum) V::store(s.minimum[0], Tile::template minimum_factor<V>(tile));
  } else {
    const auto header = Tile::template header<V>(tile);
    unroll<kGroups<Tile>>([&](auto g) {
      constexpr int kGroup = decltype(g)::value;
      V::store(s.scale[kGroup], V::mul(factor, V::to_float(Tile::template scale<V, kGroup>(header))));
    });
    if constexpr (Tile::kMinimum) {
      const auto minimum = Tile::template minimum_factor<V>(tile);
      unroll<kGroups<Tile>>([&](auto g) {
        constexpr int kGroup = decltype(g)::value;
        const auto bytes = Tile::template minimum<V, kGroup / 4>(header);
        V::store(s.minimum[kGroup], V::mul(minimum, V::to_float(V::template byte<kGroup % 4>(bytes))));
      });
    }
  }
}

// One tile against kTokens tokens. Steps are a list of calls of always_inline functions on one object: g++ keeps its
// members in registers, which it does not do with what nested lambdas capture.
template <class V, class Tile, int kTokens>
struct TileProduct {
  using Ints = typename V::Ints;
  static constexpr bool kOneGroup = kGroups<Tile> == 1, kUnrolled = kTokens <= V::kUnrolledTokens;
  static constexpr bool kRaw = [] {
    if constexpr (HasRaw<Tile>) return V::kRawCodes && kTokens <= 2;
    return false;
  }();
  // A group's sum is one for each class of raw codes, or, where a group is one long chain of additions, for each of
  // several that run side by side.
  static constexpr int kClasses = [] {
    if constexpr (kRaw) return Tile::kRawClasses;
    return Tile::kGroupColumns == 256 && kTokens <= 2 ? 4 / kTokens : 1;
  }();
  static constexpr int kLines = (Tile::kBytes + kVectorBytes - 1) / kVectorBytes;

  const uint8_t* tile;
  const QuantisedBlock* const* x;
  int first;  // the tile's first group inside the 256 columns of x
  typename V::template Partial<Tile::kMaxCode> part[kTokens][kClasses];
  Ints sum[kTokens];
  Ints scales[kOneGroup || kUnrolled ? 1 : kGroups<Tile>];

  [[gnu::always_inline]] void start_sums(int group) {
    for (int t = 0; t < kTokens; ++t) {
      start_group<V, Tile>(part[t][0], *x[t], group);
      for (int c = 1; c < kClasses; ++c) part[t][c].clear();
    }
  }
  template <int... C>
  [[gnu::always_inline]] Ints total(int t, std::integer_sequence<int, C...>) {
    auto all = part[t][0].total();
    ((all = V::add(all, shifted_back<C + 1>(part[t][C + 1].total()))), ...);
    return all;
  }
  template <int kClass>
  [[gnu::always_inline]] static Ints shifted_back(Ints p) {
    if constexpr (kRaw) return V::template shift_right_signed<Tile::raw_shift(kClass)>(p);
    return p;
  }
  [[gnu::always_inline]] Ints total(int t) { return total(t, std::make_integer_sequence<int, kClasses - 1>()); }

  template <int S>
  [[gnu::always_inline]] typename V::Bytes codes(int chunk) const {
    if constexpr (kRaw)
      return Tile::template raw<V, S>(tile, chunk);
    else
      return Tile::template codes<V, S>(tile, chunk);
  }
  // Step S of a chunk. kChunk: the chunk where the tile is unrolled, else -1.
  template <int S, int kChunk, class Header>
  [[gnu::always_inline]] void step(int chunk, const Header& header) {
    // The last chunk of TQ1_0 has a step behind the last column.
    if (Tile::kChunks * Tile::kChunkSteps * 4 > Tile::kColumns && (chunk * Tile::kChunkSteps + S) * 4 >= Tile::kColumns)
      return;
    constexpr int kInGroup = S % kGroupSteps<Tile>, kGroup = S / kGroupSteps<Tile>;
    const int group = chunk * kGroupsInChunk<Tile> + kGroup;
    // Spread over the steps: a burst of prefetches waits for line buffers.
    constexpr int kSteps = Tile::kChunks * Tile::kChunkSteps;
    const int done = chunk * Tile::kChunkSteps + S;
    for (int line = done * kLines / kSteps, end = (done + 1) * kLines / kSteps; line < end; ++line)
      V::prefetch(tile + line * kVectorBytes, kPrefetchBytes);
    if constexpr (!kOneGroup && kInGroup == 0) start_sums(group);
    const auto bytes = codes<S>(chunk);
    const int64_t column = 32 * first + (chunk * Tile::kChunkSteps + S) * 4;
    for (int t = 0; t < kTokens; ++t) part[t][S % kClasses].step(bytes, x[t]->q + column);
    if constexpr (!kOneGroup && kInGroup == kGroupSteps<Tile> - 1) {
      if constexpr (kChunk >= 0) {
        const auto scale = Tile::template scale<V, kChunk * kGroupsInChunk<Tile> + kGroup>(header);
        for (int t = 0; t < kTokens; ++t) sum[t] = V::multiply_add(total(t), scale, sum[t]);
      } else {
        for (int t = 0; t < kTokens; ++t) sum[t] = V::multiply_add(total(t), scales[group], sum[t]);
      }
    }
  }
  template <int kChunk, class Header, int... S>
  [[gnu::always_inline]] void chunk(int chunk, const Header& header, std::integer_sequence<int, S...>) {
    (step<S, kChunk>(chunk, header), ...);
  }
  template <class Header, int... C>
  [[gnu::always_inline]] void all_chunks(const Header& header, std::integer_sequence<int, C...>) {
    (chunk<C>(C, header, std::make_integer_sequence<int, Tile::kChunkSteps>()), ...);
  }
  template <class Header>
  [[gnu::always_inline]] void all_chunks(const Header& header) {
    if constexpr (kUnrolled)
      all_chunks(header, std::make_integer_sequence<int, Tile::kChunks>());
    else
      for (int c = 0; c < Tile::kChunks; ++c)
        chunk<-1>(c, header, std::make_integer_sequence<int, Tile::kChunkSteps>());
  }
  template <class Header, int... G>
  [[gnu::always_inline]] void load_scales(const Header& header, std::integer_sequence<int, G...>) {
    ((scales[G] = Tile::template scale<V, G>(header)), ...);
  }
  // The integer sums of minima times sums of q, to sum[].
  template <class Header, int... I>
  [[gnu::always_inline]] void sum_minima(const Header& header, std::integer_sequence<int, I...>) {
    constexpr bool k16 = Tile::kGroupColumns == 16;
    for (int t = 0; t < kTokens; ++t) {
      typename V::template Partial<63> high, low;
      high.clear();
      low.clear();
      (high.step(Tile::template minimum<V, I>(header), (k16 ? x[t]->high16 : x[t]->high32) + 4 * I), ...);
      (low.step(Tile::template minimum<V, I>(header), (k16 ? x[t]->low16 : x[t]->low32) + 4 * I), ...);
      sum[t] = V::add(V::template shift_left < k16 ? 4 : 5 > (high.total()), low.total());
    }
  }

  [[gnu::always_inline]] void add_to(typename V::Floats* acc) {
    const auto factor = Tile::template factor<V>(tile);
    if constexpr (kOneGroup) {
      start_sums(first);
      all_chunks(nullptr);
      for (int t = 0; t < kTokens; ++t) {
        const auto p = V::to_float(total(t)), scale_x = V::set(x[t]->scale[first]);
        if constexpr (Tile::kForm == ActivationForm::int8_32)
          acc[t] = V::fma(p, V::mul(factor, scale_x), acc[t]);
        else
          acc[t] = V::fma(V::mul(p, factor), scale_x, acc[t]);
        if constexpr (Tile::kMinimum)
          acc[t] = V::fnma(Tile::template minimum_factor<V>(tile), V::set(x[t]->sum32[first]), acc[t]);
      }
    } else {
      const auto header = Tile::template header<V>(tile);
      if constexpr (!kUnrolled) load_scales(header, std::make_integer_sequence<int, kGroups<Tile>>());
      for (int t = 0; t < kTokens; ++t) sum[t] = V::ints(0);
      all_chunks(header);
      typename V::Floats a[kTokens];
      for (int t = 0; t < kTokens; ++t) a[t] = V::mul(V::to_float(sum[t]), factor);
      if constexpr (Tile::kMinimum) {
        sum_minima(header, std::make_integer_sequence<int, kGroups<Tile> / 4>());
        const auto minimum = Tile::template minimum_factor<V>(tile);
        for (int t = 0; t < kTokens; ++t) a[t] = V::fnma(V::to_float(sum[t]), minimum, a[t]);
      }
      for (int t = 0; t < kTokens; ++t) acc[t] = V::fma(a[t], V::set(x[t]->scale[0]), acc[t]);
    }
  }
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

[[gnu::always_inline]] inline int64_t index_or(const int32_t* index, int64_t i) { return index ? index[i] : i; }

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
[[gnu::always_inline]] inline int64_t tiles_in_block(int64_t cols, int64_t b) {
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
      for (int64_t i = 0; i < tiles; ++i, tile += Tile::kBytes) {
        TileProduct<V, Tile, kTokens> product;
        product.tile = tile, product.x = at, product.first = int(i);
        product.add_to(acc);
      }
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

  // `tiles` tiles of row tile r, one after another; groups beyond them are left alone and not used.
  [[gnu::flatten]] void decode(const uint8_t* tile, int64_t tiles, int r) {
    for (int i = 0; i < int(tiles); ++i, tile += Tile::kBytes) {
      for (int line = 0; line < Tile::kBytes + kVectorBytes - 1; line += kVectorBytes)
        V::prefetch(tile + line, kPrefetchBytes);
      decode_scales(tile, i * kGroups<Tile>, r, std::make_integer_sequence<int, kGroups<Tile>>());
      for (int chunk = 0; chunk < Tile::kChunks; ++chunk)
        decode_codes(tile, chunk, (i * Tile::kChunks + chunk) * Tile::kChunkSteps, r,
                     std::make_integer_sequence<int, Tile::kChunkSteps>());
    }
  }
  template <int... S>
  [[gnu::always_inline]] void decode_codes(const uint8_t* tile, int chunk, int step, int r,
                                           std::integer_sequence<int, S...>) {
    // The last chunk of TQ1_0 has steps beyond the 64.
    constexpr bool kAll = Tile::kChunks * Tile::kChunkSteps <= kSteps;
    ((kAll || step + S < kSteps ? V::store_bytes(codes[step + S][r], Tile::template codes<V, S>(tile, chunk)) : void()),
     ...);
  }
  template <int... G>
  [[gnu::always_inline]] void decode_scales(const uint8_t* tile, int group, int r, std::integer_sequence<int, G...>) {
    const auto factor = Tile::template factor<V>(tile);
    if constexpr (sizeof...(G) == 1) {
      V::store(scale[group][r], factor);
      if constexpr (Tile::kMinimum) V::store(minimum[group][r], Tile::template minimum_factor<V>(tile));
    } else {
      const auto header = Tile::template header<V>(tile);
      (V::store(scale[group + G][r], V::mul(factor, V::to_float(Tile::template scale<V, G>(header)))), ...);
      if constexpr (Tile::kMinimum) {
        const auto least = Tile::template minimum_factor<V>(tile);
        const auto product = [&](auto bytes) { return V::mul(least, V::to_float(bytes)); };
        (V::store(minimum[group + G][r], product(V::template byte<G % 4>(Tile::template minimum<V, G / 4>(header)))),
         ...);
      }
    }
  }
};

// A panel times kCount tokens: a micro-kernel that keeps all its sums in registers (see TileProduct on its form).
template <class V, class Tile, int kCount>
struct PanelProduct {
  using P = Panel<V, Tile>;
  static constexpr bool kDirect = Tile::kForm == ActivationForm::int8_32;
  static constexpr int kStepsInGroup = P::kSteps / P::kSumGroups, kUnroll = std::min(8, kStepsInGroup);

  const P& panel;
  const QuantisedBlock* const* x;
  typename V::template Partial<Tile::kMaxCode> p[kCount][P::kTiles];
  typename V::Floats a[kCount][P::kTiles];

  template <int... I>
  [[gnu::always_inline]] void steps(int at, std::integer_sequence<int, I...>) {
    (step(at + I), ...);
  }
  [[gnu::always_inline]] void step(int at) {
    typename V::Bytes w[P::kTiles];
    for (int r = 0; r < P::kTiles; ++r) w[r] = V::load(panel.codes[at][r]);
    for (int t = 0; t < kCount; ++t) {
      const auto four = V::four(x[t]->q + 4 * at);
      for (int r = 0; r < P::kTiles; ++r) p[t][r].step(w[r], four);
    }
  }
  [[gnu::always_inline]] void group(int g) {
    for (int t = 0; t < kCount; ++t)
      for (int r = 0; r < P::kTiles; ++r) start_group<V, Tile>(p[t][r], *x[t], g);
    for (int i = 0; i < kStepsInGroup; i += kUnroll)
      steps(g * kStepsInGroup + i, std::make_integer_sequence<int, kUnroll>());
    for (int r = 0; r < P::kTiles; ++r) {
      const auto scale = V::load_floats(panel.scale[g][r]), minimum = V::load_floats(panel.minimum[g][r]);
      for (int t = 0; t < kCount; ++t) {
        if constexpr (Tile::kGroupColumns == 256)
          a[t][r] = V::fma(V::to_float(p[t][r].total()), scale, a[t][r]);
        else
          add_group<V, Tile>(p[t][r].total(), scale, minimum, *x[t], g, a[t][r]);
      }
    }
  }
  // acc: (tokens, kTiles, 16).
  [[gnu::always_inline]] void add_to(float* acc, int groups) {
    for (int t = 0; t < kCount; ++t)
      for (int r = 0; r < P::kTiles; ++r)
        a[t][r] = kDirect ? V::load_floats(acc + (t * P::kTiles + r) * 16) : V::set(0.0f);
    for (int g = 0; g < groups; ++g) group(g);
    for (int t = 0; t < kCount; ++t)
      for (int r = 0; r < P::kTiles; ++r) {
        float* to = acc + (t * P::kTiles + r) * 16;
        V::store(to, kDirect ? a[t][r] : V::fma(a[t][r], V::set(x[t]->scale[0]), V::load_floats(to)));
      }
  }
};

template <class V, class Tile, int kCount>
[[gnu::flatten, gnu::noinline]] void multiply_panel(const Panel<V, Tile>& panel, const QuantisedBlock* const* x,
                                                    int groups, float* acc) {
  PanelProduct<V, Tile, kCount> product{panel, x, {}, {}};
  product.add_to(acc, groups);
}

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
            multiply_panel<V, Tile, kCount>(*panel, at, groups, acc + t * kBand);
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

template <class Tile>
inline constexpr bool kIsTelescoped = requires {
  Tile::kTelescoped;
};
template <class V, class Tile>
void run_telescoped(const LinearJob& job, int64_t token);

template <class V, class Tile>
void run_linear(const LinearJob& job) {
  if (job.n > kColumnsTokens) return run_panel<V, Tile>(job);
  int64_t t = 0;
  if constexpr (V::kColumns >= 8)
    for (; t + 8 <= job.n; t += 8) run_columns<V, Tile, 8>(job, t);
  if constexpr (V::kColumns >= 4)
    for (; t + 4 <= job.n; t += 4) run_columns<V, Tile, 4>(job, t);
  if constexpr (V::kColumns >= 2)
    for (; t + 2 <= job.n; t += 2) run_columns<V, Tile, 2>(job, t);
  for (; t < job.n; ++t) {
    if constexpr (kIsTelescoped<Tile>)
      run_telescoped<V, Tile>(job, t);
    else
      run_columns<V, Tile, 1>(job, t);
  }
}

}  // namespace soffit::cpu
