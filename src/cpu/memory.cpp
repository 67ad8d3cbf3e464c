#include "cpu/memory.hpp"

#include <sys/mman.h>

#include <cstring>

namespace soffit::cpu {
namespace {
constexpr uint64_t kHugePage = 2 << 20;
}

Result<Memory> Memory::allocate(uint64_t size) {
  if (size > uint64_t(1) << 56) return Error{Code::out_of_memory, "cannot allocate " + std::to_string(size) + " bytes"};
  const bool huge = size >= kHugePage;
  Memory m;
  m.size_ = size;
  m.mapped_ = huge ? size + kHugePage : std::max<uint64_t>(size, 1);
  void* base = mmap(nullptr, m.mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return Error{Code::out_of_memory, "cannot allocate " + std::to_string(size) + " bytes"};
  m.base_ = base;
  m.data_ = static_cast<uint8_t*>(base);
  if (huge) {
    m.data_ =
        reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(base) + kHugePage - 1) & ~uintptr_t(kHugePage - 1));
    // Advice: where it is not taken the pages are small and the memory works all the same.
    (void)madvise(m.data_, size, MADV_HUGEPAGE);
  }
  return m;
}

Memory::~Memory() {
  if (base_) munmap(base_, mapped_);
}

Result<std::unique_ptr<Buffer>> CpuBuffer::create(uint64_t size) {
  SOFFIT_TRY(Memory memory, Memory::allocate(size));
  return std::unique_ptr<Buffer>(new CpuBuffer(std::move(memory), size));
}

Result<std::unique_ptr<Buffer>> CpuBuffer::wrap(void* memory, uint64_t size, std::shared_ptr<const void> owner) {
  if (!memory && size) return invalid_argument("wrap: null memory of " + std::to_string(size) + " bytes");
  return std::unique_ptr<Buffer>(new CpuBuffer(memory, size, std::move(owner)));
}

}  // namespace soffit::cpu
