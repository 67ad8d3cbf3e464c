#include <algorithm>
#include <vector>

#include "core/concat.hpp"
#include "soffit/buffer.hpp"

namespace soffit {
namespace {

// Where neither buffer is within the host's reach bytes go through its memory in pieces of this size.
constexpr uint64_t kPieceBytes = 4 << 20;

Status check_range(const char* what, const Buffer& buffer, uint64_t offset, uint64_t size) {
  if (offset <= buffer.size() && size <= buffer.size() - offset) return {};
  return invalid_argument(concat("copy ", what, " bytes ", offset, " + ", size, " of a buffer of ", buffer.size()));
}

}  // namespace

Status copy(const Buffer& from, uint64_t from_offset, Buffer& to, uint64_t to_offset, uint64_t size) {
  SOFFIT_CHECK(check_range("from", from, from_offset, size));
  SOFFIT_CHECK(check_range("to", to, to_offset, size));
  if (size == 0) return {};
  if (&from == &to && from_offset < to_offset + size && to_offset < from_offset + size)
    return invalid_argument(
        concat("copy of ", size, " bytes from ", from_offset, " to ", to_offset, " of the same buffer: they overlap"));
  if (const void* host = from.host())
    return to.write(to_offset, {static_cast<const std::byte*>(host) + from_offset, size});
  if (void* host = to.host()) return from.read(from_offset, {static_cast<std::byte*>(host) + to_offset, size});
  std::vector<std::byte> piece(size_t(std::min(size, kPieceBytes)));
  for (uint64_t done = 0; done < size; done += piece.size()) {
    piece.resize(size_t(std::min<uint64_t>(piece.size(), size - done)));
    SOFFIT_CHECK(from.read(from_offset + done, piece));
    SOFFIT_CHECK(to.write(to_offset + done, piece));
  }
  return {};
}

}  // namespace soffit
