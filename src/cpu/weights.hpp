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
#include "soffit/backend.hpp"

namespace soffit::cpu {

class CpuWeights final : public Weights {
 public:
  struct Part {
    MatrixDescription matrix;
    LinearKernel kernel;
    TilePacking packing;  // columns == 0: plain rows
    int64_t row_bytes = 0;
    int64_t row_stride = 0, expert_stride = 0;  // bytes; gaps only in memory used in place
    uint64_t bytes = 0;                         // of all experts
    bool repacked = false;
    Memory memory;  // repacked or copied
    const uint8_t* data = nullptr;
    std::shared_ptr<const void> owner;  // of memory used in place
    std::vector<bool> raw;              // row tiles of all experts that are as in the file; empty: none
    uint64_t written = 0;
    std::string layout;

    int64_t row_tiles() const { return (matrix.rows + 15) / 16; }
    const uint8_t* rows_at(int64_t expert, int64_t row) const {
      return data + expert * expert_stride + row * row_stride;
    }
    // The 16 rows from `row` on are a row tile in memory.
    bool packed(int64_t expert, int64_t row) const {
      return repacked && row + 16 <= matrix.rows && (raw.empty() || !raw[size_t(expert * row_tiles() + row / 16)]);
    }
  };

  static Result<std::unique_ptr<Weights>> create(std::span<const MatrixDescription> parts, Layout layout,
                                                 const VectorKernels& kernels, Team& team);

  std::span<const MatrixDescription> parts() const override { return descriptions_; }
  Status write(size_t part, uint64_t offset, std::span<const std::byte> bytes) override;
  using Weights::adopt;
  Status adopt(size_t part, const MatrixSource& source, std::shared_ptr<const void> owner) override;
  Status finish() override;
  Status read(size_t part, uint64_t offset, std::span<std::byte> to) const override;
  std::string_view layout_name(size_t part) const override {
    return part < parts_.size() ? parts_[part].layout : std::string_view();
  }
  uint64_t file_bytes() const override;
  uint64_t layout_bytes() const override { return file_bytes(); }

  const Part& part(size_t i) const { return parts_[i]; }
  size_t part_count() const { return parts_.size(); }
  bool finished() const { return finished_; }
  // One row in the file's bytes; `to` has room for row_bytes.
  void copy_row(const Part& part, int64_t expert, int64_t row, uint8_t* to) const;

 private:
  explicit CpuWeights(Team& team) : team_(team) {}
  Status check_part(size_t part) const;
  Status check_range(size_t part, uint64_t offset, uint64_t count) const;
  Status allocate(Part& part);
  bool aligned(const Part& part, const MatrixSource& source) const;
  void pack_rows(Part& part, const uint8_t* from, int64_t stride, int64_t expert, int64_t row);

  Team& team_;
  std::vector<MatrixDescription> descriptions_;
  std::vector<Part> parts_;
  bool finished_ = false;
  std::mutex raw_mutex_;  // of Part::raw while several threads pack
};

}  // namespace soffit::cpu
