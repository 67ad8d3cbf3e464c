#include "guarded.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace soffit::test {

Guarded::Guarded(size_t size, Against side) : size_(size) {
  const auto page = size_t(sysconf(_SC_PAGESIZE)), inside = std::max<size_t>(1, (size + page - 1) / page) * page;
  mapped_ = inside + 2 * page;
  void* base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(base);
  if (mprotect(base_ + page, inside, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
  data_ = base_ + page + (side == Against::back ? inside - size : 0);
}

Guarded::~Guarded() { munmap(base_, mapped_); }

void Guarded::make_read_only() {
  const auto page = size_t(sysconf(_SC_PAGESIZE));
  mprotect(base_ + page, mapped_ - 2 * page, PROT_READ);
}

Result<std::unique_ptr<Buffer>> GuardedPlacement::buffer(Backend& backend, uint64_t size) {
  auto memory = std::make_shared<Guarded>(size, side_);
  return backend.wrap(memory->bytes().data(), size, memory);
}

Status GuardedPlacement::fill(Weights& weights, size_t part, const MatrixSource& source) {
  auto memory = std::make_shared<Guarded>(source.bytes.size(), side_);
  std::memcpy(memory->bytes().data(), source.bytes.data(), source.bytes.size());
  memory->make_read_only();
  return weights.adopt(part, {memory->bytes(), source.row_stride, source.expert_stride}, memory);
}

Status PiecesPlacement::fill(Weights& weights, size_t part, const MatrixSource& source) {
  constexpr size_t kSizes[] = {1, 7, 0, 33, 1000, 3, 4097};
  const auto bytes = dense_bytes(weights.parts()[part], source);
  size_t at = 0;
  for (size_t i = 0; at < bytes.size(); ++i) {
    const size_t count = std::min(kSizes[i % std::size(kSizes)], bytes.size() - at);
    SOFFIT_CHECK(weights.write(part, at, std::span(bytes).subspan(at, count)));
    at += count;
  }
  return {};
}

std::vector<std::byte> dense_bytes(const MatrixDescription& m, const MatrixSource& source) {
  const auto s = *resolve(m, source);
  const auto row = size_t(*row_bytes(m.format, m.cols));
  std::vector<std::byte> bytes;
  for (int64_t e = 0; e < m.experts; ++e)
    for (int64_t r = 0; r < m.rows; ++r) {
      const auto from = s.bytes.subspan(size_t(e) * s.expert_stride + size_t(r) * s.row_stride, row);
      bytes.insert(bytes.end(), from.begin(), from.end());
    }
  return bytes;
}

}  // namespace soffit::test
