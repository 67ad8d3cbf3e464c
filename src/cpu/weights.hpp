// Weights on the CPU. A part keeps the size and the order of rows of the file, expert after expert; in the repacked
// layout each 16 rows that make a row tile are rearranged in place of those rows. Rows that are left over at the end of
// an expert, and the rare row tile that cannot be repacked without loss, stay as they are in the file and are turned
// into tiles when they are used.
#pragma once

#include <mutex>
#include <vector>

#include "core/threads.hpp"
#include "cpu/kernels.hpp"
#include "cpu/memory.hpp"
#include "cpu/packing.hpp"
#include "ops/part_weights.hpp"

namespace soffit::cpu {

struct CpuWeightsPart : WeightsPart {
  LinearKernel kernel;
  TilePacking packing;  // columns == 0: plain rows
  bool repacked = false;
  Memory memory;  // repacked or copied
  const uint8_t* data = nullptr;
  std::vector<bool> raw;  // row tiles of all experts that are as in the file; empty: none

  int64_t row_tiles() const { return (matrix.rows + 15) / 16; }
  const uint8_t* rows_at(int64_t expert, int64_t row) const { return data + expert * expert_stride + row * row_stride; }
  // The 16 rows from `row` on are a row tile in memory.
  bool packed(int64_t expert, int64_t row) const {
    return repacked && row + 16 <= matrix.rows && (raw.empty() || !raw[size_t(expert * row_tiles() + row / 16)]);
  }
};

class CpuWeights final : public PartWeights<CpuWeightsPart> {
 public:
  static Result<std::unique_ptr<Weights>> create(std::span<const MatrixDescription> parts, Layout layout,
                                                 const VectorKernels& kernels, Team& team);

  Status write(size_t part, uint64_t offset, std::span<const std::byte> bytes) override;
  using Weights::adopt;
  Status adopt(size_t part, const MatrixSource& source, std::shared_ptr<const void> owner) override;
  void copy_row(const Part& part, int64_t expert, int64_t row, uint8_t* to) const override;

 private:
  explicit CpuWeights(Team& team) : team_(team) {}
  Status allocate(Part& part);
  bool aligned(const Part& part, const MatrixSource& source) const;
  void pack_rows(Part& part, const uint8_t* from, int64_t stride, int64_t expert, int64_t row);

  Team& team_;
  std::mutex raw_mutex_;  // of Part::raw while several threads pack
};

}  // namespace soffit::cpu
