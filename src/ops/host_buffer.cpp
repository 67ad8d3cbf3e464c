#include "ops/host_buffer.hpp"

#include <cstring>

#include "core/concat.hpp"

namespace soffit {

Status HostBuffer::check(uint64_t offset, uint64_t count) const {
  if (offset <= size_ && count <= size_ - offset) return {};
  return invalid_argument(concat("bytes ", offset, " + ", count, " of a buffer of ", size_));
}

// Wrapped memory may be what is read from or written to: bytes move as if there were a copy between.
Status HostBuffer::write(uint64_t offset, std::span<const std::byte> from) {
  SOFFIT_CHECK(check(offset, from.size()));
  if (!from.empty()) std::memmove(data_ + offset, from.data(), from.size());
  return {};
}

Status HostBuffer::read(uint64_t offset, std::span<std::byte> to) const {
  SOFFIT_CHECK(check(offset, to.size()));
  if (!to.empty()) std::memmove(to.data(), data_ + offset, to.size());
  return {};
}

}  // namespace soffit
