#include "cpu/weights.hpp"

#include <algorithm>
#include <cstring>

#include "soffit/format.hpp"

namespace soffit::cpu {
namespace {

void copy_rows(const uint8_t* from, int64_t stride, int64_t rows, int64_t row_bytes, uint8_t* to) {
  if (stride == row_bytes) return void(std::memcpy(to, from, size_t(rows * row_bytes)));
  for (int64_t r = 0; r < rows; ++r) std::memcpy(to + r * row_bytes, from + r * stride, size_t(row_bytes));
}

}  // namespace

Result<std::unique_ptr<Weights>> CpuWeights::create(std::span<const MatrixDescription> parts, Layout layout,
                                                    const VectorKernels& kernels, Team& team) {
  std::unique_ptr<CpuWeights> w(new CpuWeights(team));
  SOFFIT_CHECK(w->describe(parts));
  for (Part& p : w->parts_) {
    p.kernel = kernels.linear(p.matrix.format);
    if (!p.kernel.run) return unsupported("no kernel for format " + std::string(info(p.matrix.format).name));
    p.packing = tile_packing(p.kernel.tile);
    p.repacked = layout == Layout::automatic && p.packing.columns != 0;
    if (p.repacked) p.layout += "_x16";
  }
  return std::unique_ptr<Weights>(std::move(w));
}

Status CpuWeights::allocate(Part& part) {
  if (part.memory.data()) return {};
  SOFFIT_TRY(part.memory, Memory::allocate(part.bytes));
  part.data = part.memory.data();
  return {};
}

// Brings 16 rows of the file, `stride` bytes apart, into their place. `from` may be that place.
void CpuWeights::pack_rows(Part& part, const uint8_t* from, int64_t stride, int64_t expert, int64_t row) {
  const auto& p = part.packing;
  uint8_t* to = part.memory.data() + (expert * part.matrix.rows + row) * part.row_bytes;
  const int64_t blocks = part.matrix.cols / p.columns;
  if (p.packable) {
    bool all = true;
    for (int64_t r = 0; r < 16 && all; ++r)
      for (int64_t b = 0; b < blocks && all; ++b) all = p.packable(from + r * stride + b * p.block_bytes);
    if (!all) {
      const std::lock_guard lock(raw_mutex_);
      part.raw.resize(size_t(part.row_tiles() * part.matrix.experts));
      part.raw[size_t(expert * part.row_tiles() + row / 16)] = true;
      if (from != to) copy_rows(from, stride, 16, part.row_bytes, to);
      return;
    }
  }
  std::vector<uint8_t> copy;
  if (from == to) {
    copy.assign(from, from + 16 * stride);
    from = copy.data();
  }
  for (int64_t b = 0; b < blocks; ++b) p.pack(from + b * p.block_bytes, stride, 16, to + b * p.bytes);
}

Status CpuWeights::write(size_t index, uint64_t offset, std::span<const std::byte> bytes) {
  SOFFIT_TRY(Part * next, next_part(index, offset, bytes.size()));
  Part& part = *next;
  SOFFIT_CHECK(allocate(part));
  if (bytes.empty()) return {};
  std::memcpy(part.memory.data() + offset, bytes.data(), bytes.size());
  part.written += bytes.size();
  if (!part.repacked) return {};
  // Rearrange each group of 16 rows that has become complete.
  const int64_t rows = part.matrix.rows, whole = rows / 16 * 16;
  for (int64_t r = int64_t(offset) / part.row_bytes, end = int64_t(part.written) / part.row_bytes; r < end; ++r) {
    const int64_t expert = r / rows, row = r % rows;
    if (row % 16 == 15 && row < whole)
      pack_rows(part, part.rows_at(expert, row - 15), part.row_bytes, expert, row - 15);
  }
  return {};
}

// Plain rows are read as whole elements, so they must be aligned to them; blocks may lie at any address.
bool CpuWeights::aligned(const Part& part, const MatrixSource& source) const {
  if (part.packing.columns) return true;
  const uint64_t all = reinterpret_cast<uintptr_t>(source.bytes.data()) | source.row_stride |
                       (part.matrix.experts > 1 ? source.expert_stride : 0);
  return all % info(part.matrix.format).block_bytes == 0;
}

Status CpuWeights::adopt(size_t index, const MatrixSource& source, std::shared_ptr<const void> owner) {
  SOFFIT_TRY(Part * empty, empty_part(index));
  Part& part = *empty;
  SOFFIT_TRY(const MatrixSource s, resolve(part.matrix, source));
  const auto* from = reinterpret_cast<const uint8_t*>(s.bytes.data());
  const auto row_stride = int64_t(s.row_stride), expert_stride = int64_t(s.expert_stride);
  if (!part.repacked && aligned(part, s)) {
    part.data = from;
    use_in_place(part, s, std::move(owner));
    return {};
  }
  SOFFIT_CHECK(allocate(part));
  const int64_t rows = part.matrix.rows, tiles = part.row_tiles(), all = tiles * part.matrix.experts;
  std::atomic<int64_t> next{0};
  team_.run([&](int) {
    constexpr int64_t kBatch = 4;
    for (int64_t i; (i = next.fetch_add(kBatch, std::memory_order_relaxed)) < all;)
      for (int64_t t = i; t < std::min(all, i + kBatch); ++t) {
        const int64_t expert = t / tiles, row = t % tiles * 16;
        const uint8_t* at = from + expert * expert_stride + row * row_stride;
        if (part.repacked && row + 16 <= rows)
          pack_rows(part, at, row_stride, expert, row);
        else
          copy_rows(at, row_stride, std::min<int64_t>(16, rows - row), part.row_bytes,
                    part.memory.data() + expert * part.expert_stride + row * part.row_stride);
      }
  });
  part.written = part.bytes;
  return {};
}

void CpuWeights::copy_row(const Part& part, int64_t expert, int64_t row, uint8_t* to) const {
  const int64_t first = row / 16 * 16;
  if (!part.packed(expert, first)) {
    std::memcpy(to, part.rows_at(expert, row), size_t(part.row_bytes));
    return;
  }
  const uint8_t* tile = part.rows_at(expert, first);
  for (int64_t b = 0; b < part.matrix.cols / part.packing.columns; ++b)
    part.packing.unpack(tile + b * part.packing.bytes, int(row - first), to + b * part.packing.block_bytes);
}

}  // namespace soffit::cpu
