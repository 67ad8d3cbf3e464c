// What the weights of all backends share: parts that are written in order or adopted whole, and are usable when all of
// them are there. A backend says where the bytes of its parts lie.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/concat.hpp"
#include "soffit/backend.hpp"
#include "soffit/format.hpp"

namespace soffit {

struct WeightsPart {
  MatrixDescription matrix;
  int64_t row_bytes = 0;
  int64_t row_stride = 0, expert_stride = 0;  // bytes; gaps only in memory used in place
  uint64_t bytes = 0;                         // of all experts
  std::shared_ptr<const void> owner;          // of memory used in place
  uint64_t written = 0;
  std::string layout;
};

template <std::derived_from<WeightsPart> P>
class PartWeights : public Weights {
 public:
  using Part = P;

  std::span<const MatrixDescription> parts() const override { return descriptions_; }
  Status finish() override {
    for (size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].written != parts_[i].bytes)
        return invalid_argument(concat("part ", i, " has ", parts_[i].written, " of ", parts_[i].bytes, " bytes"));
    finished_ = true;
    return {};
  }
  Status read(size_t index, uint64_t offset, std::span<std::byte> to) const override {
    SOFFIT_CHECK(check_range(index, offset, to.size()));
    const Part& part = parts_[index];
    if (!finished_) return invalid_argument("read of weights before finish()");
    std::vector<uint8_t> row(size_t(part.row_bytes));
    auto* out = reinterpret_cast<uint8_t*>(to.data());
    for (uint64_t at = offset, end = offset + to.size(); at < end;) {
      const auto r = int64_t(at / uint64_t(part.row_bytes));
      const uint64_t skip = at % uint64_t(part.row_bytes), count = std::min(end - at, uint64_t(part.row_bytes) - skip);
      copy_row(part, r / part.matrix.rows, r % part.matrix.rows, row.data());
      std::memcpy(out, row.data() + skip, count);
      out += count;
      at += count;
    }
    return {};
  }
  std::string_view layout_name(size_t part) const override {
    return part < parts_.size() ? parts_[part].layout : std::string_view();
  }
  uint64_t file_bytes() const override {
    uint64_t sum = 0;
    for (const auto& p : parts_) sum += p.bytes;
    return sum;
  }
  uint64_t layout_bytes() const override { return file_bytes(); }

  const Part& part(size_t i) const { return parts_[i]; }
  size_t part_count() const { return parts_.size(); }
  bool finished() const { return finished_; }
  // One row in the file's bytes; `to` has room for row_bytes.
  virtual void copy_row(const Part& part, int64_t expert, int64_t row, uint8_t* to) const = 0;

 protected:
  // Makes the parts, in the file's layout and without memory.
  Status describe(std::span<const MatrixDescription> parts) {
    if (parts.empty()) return invalid_argument("weights of no parts");
    descriptions_.assign(parts.begin(), parts.end());
    for (const auto& m : parts) {
      if (m.cols != parts[0].cols || m.experts != parts[0].experts)
        return invalid_argument(concat("parts of one weights object need the same columns and experts: ", m.cols, " x ",
                                       m.experts, " and ", parts[0].cols, " x ", parts[0].experts));
      Part& p = parts_.emplace_back();
      p.matrix = m;
      SOFFIT_TRY(p.bytes, matrix_bytes(m));
      SOFFIT_TRY(p.row_bytes, row_bytes(m.format, m.cols));
      p.row_stride = p.row_bytes;
      p.expert_stride = m.rows * p.row_bytes;
      p.layout = std::string(info(m.format).name);
    }
    return {};
  }
  // The part that takes `count` bytes from `offset` on, if they are its next ones.
  Result<Part*> next_part(size_t index, uint64_t offset, uint64_t count) {
    SOFFIT_CHECK(check_range(index, offset, count));
    Part& part = parts_[index];
    if (finished_ || part.owner) return invalid_argument("write to weights that are complete");
    if (offset != part.written)
      return invalid_argument(concat("write at byte ", offset, ", the last one ended at ", part.written));
    return &part;
  }
  // The part that is to be adopted whole, if nothing of it is there yet.
  Result<Part*> empty_part(size_t index) {
    SOFFIT_CHECK(check_part(index));
    Part& part = parts_[index];
    if (finished_ || part.written || part.owner)
      return invalid_argument("adopt after write, or of weights that are complete");
    return &part;
  }
  // Notes that a part is used where the source lies, which is resolved.
  static void use_in_place(Part& part, const MatrixSource& source, std::shared_ptr<const void> owner) {
    part.row_stride = int64_t(source.row_stride);
    part.expert_stride = int64_t(source.expert_stride);
    part.owner = owner ? std::move(owner) : std::shared_ptr<const void>(source.bytes.data(), [](const void*) {});
    part.written = part.bytes;
  }

  std::vector<Part> parts_;

 private:
  Status check_part(size_t part) const {
    if (part < parts_.size()) return {};
    return invalid_argument(concat("part ", part, " of weights of ", parts_.size(), " parts"));
  }
  Status check_range(size_t part, uint64_t offset, uint64_t count) const {
    SOFFIT_CHECK(check_part(part));
    const uint64_t bytes = parts_[part].bytes;
    if (offset > bytes || count > bytes - offset)
      return invalid_argument(concat("bytes ", offset, " + ", count, " of a matrix of ", bytes, " bytes"));
    return {};
  }

  std::vector<MatrixDescription> descriptions_;
  bool finished_ = false;
};

}  // namespace soffit
