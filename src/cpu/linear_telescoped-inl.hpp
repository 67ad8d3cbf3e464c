// y = W x for five digits in base 3 that are kept as one number a byte, without taking the digits apart.
//
// T_n = floor(b / 3^(5 - n)) is the first n digits as a number, so digit n is T_{n+1} - 3 T_n, and over five digits
//   sum of digit_n x_n = sum over n = 1…4 of T_n (x_{n-1} - 3 x_n) + T_5 x_4.
// T_n is the high half of a 16-bit product; its coefficient is at most 508, so pairs of products are exact in 32 bits.
// The coefficients are made once for all rows of a job.
#pragma once

#include "cpu/linear-inl.hpp"

namespace soffit::cpu {

template <class V, class Tile>
void run_telescoped(const LinearJob& job, int64_t token) {
  constexpr int kPairs = 2 * Tile::kChunks * Tile::kChunkSteps;
  const int64_t blocks = job.cols / kBlockColumns;
  if (blocks * kPairs * int64_t(sizeof(int32_t)) > int64_t(kLinearScratch)) return run_columns<V, Tile, 1>(job, token);
  auto* pairs = reinterpret_cast<int32_t*>(job.scratch);
  const QuantisedBlock* x = static_cast<const QuantisedBlock*>(job.x) + index_or(job.x_index, token);
  for (int64_t b = 0; b < blocks; ++b)
    for (int z = 0, first = 0; z < Tile::kChunks; ++z, first += 4 * Tile::kChunkSteps)
      V::telescope(x[b * job.x_rows].q + first, kBlockColumns - first, pairs + b * kPairs + 2 * Tile::kChunkSteps * z);
  for (int64_t row = 0; row < job.rows; row += kTileRows) {
    const uint8_t* tile = job.weights + row / kTileRows * job.row_bytes;
    auto acc = V::set(0.0f);
    for (int64_t b = 0; b < blocks; ++b, tile += Tile::kBytes) {
      const QuantisedBlock& block = x[b * job.x_rows];
      typename V::Telescoped sum;
      V::prefetch(tile, kPrefetchBytes);
      for (int z = 0; z < Tile::kChunks; ++z) {
        const uint8_t* vector = tile + 32 + kVectorBytes * z;
        V::prefetch(vector, kPrefetchBytes);
        sum.step(vector, pairs + b * kPairs + 2 * Tile::kChunkSteps * z);
      }
      const auto p = V::to_float(V::add(sum.total(), V::ints(block.start256)));
      acc = V::fma(V::mul(p, Tile::template factor<V>(tile)), V::set(block.scale[0]), acc);
    }
    store_rows<V>(job.y + index_or(job.y_index, token) * job.y_stride + row, acc, job.rows - row);
  }
}

}  // namespace soffit::cpu
