// Memory for a kernel's buffers, each far from every other: an address that is off by up to 4 GiB is nobody's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "soffit/status.hpp"

namespace soffit::lanes {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  // Zeros, of which only what is touched takes memory.
  static Result<DeviceMemory> create(uint64_t bytes);
  DeviceMemory(DeviceMemory&& from) noexcept { *this = static_cast<DeviceMemory&&>(from); }
  DeviceMemory& operator=(DeviceMemory&& from) noexcept;
  ~DeviceMemory();

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  std::span<std::byte> span() const { return {data_, size_t(bytes_)}; }

 private:
  std::byte *mapping_ = nullptr, *data_ = nullptr;
  uint64_t mapped_ = 0, bytes_ = 0;
};

}  // namespace soffit::lanes
