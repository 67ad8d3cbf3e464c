#include "metal/weights.hpp"

#include <algorithm>
#include <cstring>

#include "core/concat.hpp"

namespace soffit::metal {

Result<std::unique_ptr<Weights>> MetalWeights::create(Device& device, std::span<const MatrixDescription> parts) {
  if (parts.empty()) return invalid_argument("weights of no parts");
  std::unique_ptr<MetalWeights> w(new MetalWeights(device));
  w->descriptions_.assign(parts.begin(), parts.end());
  for (const auto& m : parts) {
    if (m.cols != parts[0].cols || m.experts != parts[0].experts)
      return invalid_argument(concat("parts of one weights object need the same columns and experts: ", m.cols, " x ",
                                     m.experts, " and ", parts[0].cols, " x ", parts[0].experts));
    Part p;
    p.matrix = m;
    SOFFIT_TRY(p.bytes, matrix_bytes(m));
    SOFFIT_TRY(const int64_t row, row_bytes(m.format, m.cols));
    p.row_bytes = p.row_stride = uint64_t(row);
    p.expert_stride = uint64_t(m.rows) * p.row_bytes;
    p.layout = std::string(info(m.format).name);
    w->parts_.push_back(std::move(p));
  }
  return std::unique_ptr<Weights>(std::move(w));
}

Status MetalWeights::check_range(size_t part, uint64_t offset, uint64_t count) const {
  if (part >= parts_.size()) return invalid_argument(concat("part ", part, " of weights of ", parts_.size(), " parts"));
  const uint64_t bytes = parts_[part].bytes;
  if (offset > bytes || count > bytes - offset)
    return invalid_argument(concat("bytes ", offset, " + ", count, " of a matrix of ", bytes, " bytes"));
  return {};
}

Status MetalWeights::allocate(Part& part) {
  if (part.buffer) return {};
  SOFFIT_TRY(part.buffer, device_.new_buffer(part.bytes));
  return {};
}

Status MetalWeights::write(size_t index, uint64_t offset, std::span<const std::byte> bytes) {
  SOFFIT_CHECK(check_range(index, offset, bytes.size()));
  Part& part = parts_[index];
  if (finished_ || part.owner) return invalid_argument("write to weights that are complete");
  if (offset != part.written)
    return invalid_argument(concat("write at byte ", offset, ", the last one ended at ", part.written));
  SOFFIT_CHECK(allocate(part));
  if (!bytes.empty()) std::memcpy(part.buffer->data() + offset, bytes.data(), bytes.size());
  part.written += bytes.size();
  return {};
}

Status MetalWeights::adopt(size_t index, const MatrixSource& source, std::shared_ptr<const void> owner) {
  SOFFIT_CHECK(check_range(index, 0, 0));
  Part& part = parts_[index];
  if (finished_ || part.written || part.owner)
    return invalid_argument("adopt after write, or of weights that are complete");
  SOFFIT_TRY(const MatrixSource s, resolve(part.matrix, source));
  // Kernels read blocks by the largest power of two that their size is a multiple of.
  const uint64_t block = info(part.matrix.format).block_bytes, alignment = block & -block;
  const auto address = reinterpret_cast<uintptr_t>(s.bytes.data());
  const uint64_t strides = s.row_stride | (part.matrix.experts > 1 ? s.expert_stride : 0);
  // Numbers are read by fours.
  const uint64_t of_address = info(part.matrix.format).block_elements == 1 ? 4 * alignment : alignment;
  if (strides % alignment == 0 && address % of_address == 0) {
    // Never written to: kernels take weights as constant memory.
    auto buffer = device_.wrap({const_cast<std::byte*>(s.bytes.data()), s.bytes.size()});
    if (buffer) {
      part.buffer = *std::move(buffer);
      part.row_stride = s.row_stride;
      part.expert_stride = s.expert_stride;
      part.owner = owner ? std::move(owner) : std::shared_ptr<const void>(s.bytes.data(), [](const void*) {});
      part.written = part.bytes;
      return {};
    }
    if (buffer.error().code != Code::unsupported) return buffer.error();
  }
  SOFFIT_CHECK(allocate(part));
  std::byte* to = part.buffer->data();
  for (int64_t e = 0; e < part.matrix.experts; ++e)
    for (int64_t r = 0; r < part.matrix.rows; ++r, to += part.row_bytes)
      std::memcpy(to, s.bytes.data() + uint64_t(e) * s.expert_stride + uint64_t(r) * s.row_stride, part.row_bytes);
  part.written = part.bytes;
  return {};
}

Status MetalWeights::finish() {
  for (size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].written != parts_[i].bytes)
      return invalid_argument(concat("part ", i, " has ", parts_[i].written, " of ", parts_[i].bytes, " bytes"));
  finished_ = true;
  return {};
}

Status MetalWeights::read(size_t index, uint64_t offset, std::span<std::byte> to) const {
  SOFFIT_CHECK(check_range(index, offset, to.size()));
  const Part& part = parts_[index];
  if (!finished_) return invalid_argument("read of weights before finish()");
  std::byte* out = to.data();
  for (uint64_t at = offset, end = offset + to.size(); at < end;) {
    const uint64_t row = at / part.row_bytes, skip = at % part.row_bytes;
    const uint64_t count = std::min(end - at, part.row_bytes - skip), rows = uint64_t(part.matrix.rows);
    std::memcpy(out, part.buffer->data() + row / rows * part.expert_stride + row % rows * part.row_stride + skip,
                count);
    out += count;
    at += count;
  }
  return {};
}

uint64_t MetalWeights::file_bytes() const {
  uint64_t sum = 0;
  for (const auto& p : parts_) sum += p.bytes;
  return sum;
}

}  // namespace soffit::metal
