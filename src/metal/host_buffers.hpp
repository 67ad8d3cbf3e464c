// Buffers in the host's own memory, for devices whose kernels run there or take copies.
#pragma once

#include "lanes/device_memory.hpp"
#include "metal/device.hpp"

namespace soffit::metal {

class OwnBuffer final : public DeviceBuffer {
 public:
  static Result<std::unique_ptr<DeviceBuffer>> create(uint64_t bytes) {
    SOFFIT_TRY(auto memory, lanes::DeviceMemory::create(bytes));
    return std::unique_ptr<DeviceBuffer>(std::make_unique<OwnBuffer>(std::move(memory)));
  }
  explicit OwnBuffer(lanes::DeviceMemory memory) : memory_(std::move(memory)) {}
  std::byte* data() const override { return memory_.data(); }
  uint64_t bytes() const override { return memory_.bytes(); }

 private:
  lanes::DeviceMemory memory_;
};

class WrappedBuffer final : public DeviceBuffer {
 public:
  explicit WrappedBuffer(std::span<std::byte> memory) : memory_(memory) {}
  std::byte* data() const override { return memory_.data(); }
  uint64_t bytes() const override { return memory_.size(); }

 private:
  std::span<std::byte> memory_;
};

}  // namespace soffit::metal
