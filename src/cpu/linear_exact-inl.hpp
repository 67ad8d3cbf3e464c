// Products over tiles with fp32 activations, for --exact.
//
// t_g = sum over the group of (code - bias) * x in fp32, acc = fma(t_g, S_g, acc), then fnma(M_g, sum of x over g,
// acc). The order does not depend on the number of tokens.
#pragma once

#include "cpu/linear-inl.hpp"

namespace soffit::cpu {

template <class Tile>
[[gnu::always_inline]] inline float group_sum(const FloatBlock& x, int group) {
  return Tile::kGroupColumns == 16 ? x.sum16[group] : x.sum16[2 * group] + x.sum16[2 * group + 1];
}

template <class V, class Tile, int kTokens>
void run_exact_columns(const LinearJob& job, int64_t token) {
  const auto* x = static_cast<const FloatBlock*>(job.x);
  const FloatBlock* first[kTokens];
  for (int t = 0; t < kTokens; ++t) first[t] = x + index_or(job.x_index, token + t);
  const int64_t blocks = (job.cols + kBlockColumns - 1) / kBlockColumns;
  for (int64_t row = 0; row < job.rows; row += kTileRows) {
    const uint8_t* tile = job.weights + row / kTileRows * job.row_bytes;
    typename V::Floats acc[kTokens], sum[kTokens];
    for (int t = 0; t < kTokens; ++t) acc[t] = sum[t] = V::set(0.0f);
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t tiles = Tile::kColumns == kBlockColumns ? 1 : tiles_in_block<Tile>(job.cols, b);
      for (int64_t i = 0; i < tiles; ++i, tile += Tile::kBytes) {
        GroupScales s;
        group_scales<V, Tile>(tile, s);
        const auto finish = [&](int group) {
          for (int t = 0; t < kTokens; ++t) {
            const FloatBlock& xb = first[t][b * job.x_rows];
            acc[t] = V::fma(sum[t], V::load_floats(s.scale[group]), acc[t]);
            if constexpr (Tile::kMinimum)
              acc[t] = V::fnma(V::load_floats(s.minimum[group]), V::set(group_sum<Tile>(xb, int(i) + group)), acc[t]);
            sum[t] = V::set(0.0f);
          }
        };
        for (int chunk = 0; chunk < Tile::kChunks; ++chunk) {
          for (int half = 0; half < kGroupsInChunk<Tile>; ++half) {
            // Both halves of a chunk share this loop's code; the step is known when compiling only inside unroll.
            unroll<Tile::kChunkSteps>([&](auto step) {
              if (step / kGroupSteps<Tile> != half) return;
              const int column = int(i) * Tile::kColumns + (chunk * Tile::kChunkSteps + step) * 4;
              if (Tile::kChunks * Tile::kChunkSteps * 4 != Tile::kColumns && column >= kBlockColumns) return;
              const auto codes = Tile::template codes<V, decltype(step)::value>(tile, chunk);
              V::for_each_byte([&](auto c) {
                const auto w = V::to_float(V::add(V::template byte<decltype(c)::value>(codes), V::ints(-Tile::kBias)));
                for (int t = 0; t < kTokens; ++t)
                  sum[t] = V::fma(w, V::set(first[t][b * job.x_rows].x[column + c]), sum[t]);
              });
            });
            if (Tile::kGroupColumns != 256) finish(chunk * kGroupsInChunk<Tile> + half);
          }
        }
        if (Tile::kGroupColumns == 256) finish(0);
      }
    }
    for (int t = 0; t < kTokens; ++t)
      store_rows<V>(job.y + index_or(job.y_index, token + t) * job.y_stride + row, acc[t], job.rows - row);
  }
}

template <class V, class Tile>
void run_exact(const LinearJob& job) {
  int64_t t = 0;
  if constexpr (V::kColumns >= 4)
    for (; t + 4 <= job.n; t += 4) run_exact_columns<V, Tile, 4>(job, t);
  for (; t < job.n; ++t) run_exact_columns<V, Tile, 1>(job, t);
}

}  // namespace soffit::cpu
