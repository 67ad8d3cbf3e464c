#include "metal/weights.hpp"

#include <cstring>

namespace soffit::metal {

Result<std::unique_ptr<Weights>> MetalWeights::create(Device& device, std::span<const MatrixDescription> parts) {
  std::unique_ptr<MetalWeights> w(new MetalWeights(device));
  SOFFIT_CHECK(w->describe(parts));
  return std::unique_ptr<Weights>(std::move(w));
}

Status MetalWeights::allocate(Part& part) {
  if (part.buffer) return {};
  SOFFIT_TRY(part.buffer, device_.new_buffer(part.bytes));
  return {};
}

Status MetalWeights::write(size_t index, uint64_t offset, std::span<const std::byte> bytes) {
  SOFFIT_TRY(Part * part, next_part(index, offset, bytes.size()));
  SOFFIT_CHECK(allocate(*part));
  if (!bytes.empty()) std::memcpy(part->buffer->data() + offset, bytes.data(), bytes.size());
  part->written += bytes.size();
  return {};
}

Status MetalWeights::adopt(size_t index, const MatrixSource& source, std::shared_ptr<const void> owner) {
  SOFFIT_TRY(Part * empty, empty_part(index));
  Part& part = *empty;
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
      use_in_place(part, s, std::move(owner));
      return {};
    }
    if (buffer.error().code != Code::unsupported) return buffer.error();
  }
  SOFFIT_CHECK(allocate(part));
  std::byte* to = part.buffer->data();
  for (int64_t e = 0; e < part.matrix.experts; ++e)
    for (int64_t r = 0; r < part.matrix.rows; ++r, to += part.row_bytes)
      std::memcpy(to, s.bytes.data() + uint64_t(e) * s.expert_stride + uint64_t(r) * s.row_stride,
                  size_t(part.row_bytes));
  part.written = part.bytes;
  return {};
}

void MetalWeights::copy_row(const Part& part, int64_t expert, int64_t row, uint8_t* to) const {
  std::memcpy(to, part.buffer->data() + expert * part.expert_stride + row * part.row_stride, size_t(part.row_bytes));
}

}  // namespace soffit::metal
