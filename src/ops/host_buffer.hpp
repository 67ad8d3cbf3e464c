// A buffer in memory that the host reaches. A backend derives its own from it and keeps the memory.
#pragma once

#include "soffit/buffer.hpp"

namespace soffit {

class HostBuffer : public Buffer {
 public:
  uint64_t size() const override { return size_; }
  void* host() override { return data_; }
  Status write(uint64_t offset, std::span<const std::byte> from) override;
  Status read(uint64_t offset, std::span<std::byte> to) const override;

 protected:
  HostBuffer(void* data, uint64_t size) : data_(static_cast<std::byte*>(data)), size_(size) {}

 private:
  Status check(uint64_t offset, uint64_t count) const;

  std::byte* data_;
  uint64_t size_;
};

}  // namespace soffit
