// The machine under the Metal backend: memory that the host reaches too, kernels, and runs of them. Apple's Metal and
// the lanes implement it.
//
// Thread-safety: everything may be called from several threads, but run() by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::metal {

class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  virtual std::byte* data() const = 0;  // the host's address
  virtual uint64_t bytes() const = 0;
};

// A kernel with its function constants.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
};
struct FunctionConstant {
  uint32_t index, value;
  bool operator==(const FunctionConstant&) const = default;
};

struct Size {
  uint32_t x = 1, y = 1, z = 1;
};

// What a kernel may touch of a buffer.
struct Binding {
  const DeviceBuffer* buffer = nullptr;
  uint64_t offset = 0, bytes = 0;
};

struct Dispatch {
  const Pipeline* pipeline = nullptr;
  std::vector<std::byte> arguments;  // buffer 0, by value
  std::vector<Binding> buffers;      // buffers 1, 2, …
  Size grid;                         // in threadgroups
  uint32_t threads = 32;             // of a threadgroup
  uint32_t threadgroup_bytes = 0;    // of threadgroup memory 0
  bool barrier = false;              // sees what dispatches before it wrote
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view isa() const = 0;
  virtual int threads() const = 0;  // of the host's that kernels run on; 1 where there is a machine of its own

  virtual Result<std::unique_ptr<DeviceBuffer>> new_buffer(uint64_t bytes) = 0;  // zeroed
  // Memory of somebody else's, as long as the buffer lives; Code::unsupported where the device cannot reach it.
  virtual Result<std::unique_ptr<DeviceBuffer>> wrap(std::span<std::byte> memory) = 0;
  // Lives as long as the device; the same for the same kernel and constants.
  virtual Result<const Pipeline*> pipeline(const std::string& kernel,
                                           const std::vector<FunctionConstant>& constants) = 0;
  // Runs them in order, or at once where no barrier stands between, and waits.
  virtual Status run(std::span<const Dispatch> dispatches) = 0;
};

}  // namespace soffit::metal
