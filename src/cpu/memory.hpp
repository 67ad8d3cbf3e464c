// Memory of the CPU backend: zeroed, 64-byte aligned at least, large blocks in 2 MB pages where the system gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "ops/host_buffer.hpp"

namespace soffit::cpu {

// An anonymous mapping; pages cost nothing until they are touched.
class Memory {
 public:
  static Result<Memory> allocate(uint64_t size);
  Memory() = default;
  Memory(Memory&& o) noexcept
      : base_(std::exchange(o.base_, nullptr)), data_(o.data_), mapped_(o.mapped_), size_(o.size_) {}
  Memory& operator=(Memory&& o) noexcept {
    std::swap(base_, o.base_), std::swap(data_, o.data_), std::swap(mapped_, o.mapped_), std::swap(size_, o.size_);
    return *this;
  }
  ~Memory();

  uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  void* base_ = nullptr;
  uint8_t* data_ = nullptr;
  uint64_t mapped_ = 0, size_ = 0;
};

class CpuBuffer final : public HostBuffer {
 public:
  static Result<std::unique_ptr<Buffer>> create(uint64_t size);
  static Result<std::unique_ptr<Buffer>> wrap(void* memory, uint64_t size, std::shared_ptr<const void> owner);

 private:
  CpuBuffer(Memory memory, uint64_t size) : HostBuffer(memory.data(), size), memory_(std::move(memory)) {}
  CpuBuffer(void* memory, uint64_t size, std::shared_ptr<const void> owner)
      : HostBuffer(memory, size), owner_(std::move(owner)) {}

  Memory memory_;
  std::shared_ptr<const void> owner_;
};

}  // namespace soffit::cpu
