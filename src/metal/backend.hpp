// The Metal backend over a device. Memory is shared between host and device, activations are fp32, weights stay as they
// are in the file.
#pragma once

#include "metal/device.hpp"
#include "ops/host_buffer.hpp"
#include "ops/host_state.hpp"
#include "soffit/backend.hpp"

namespace soffit::metal {

class MetalBuffer final : public HostBuffer {
 public:
  MetalBuffer(std::unique_ptr<DeviceBuffer> buffer, std::shared_ptr<const void> owner)
      : HostBuffer(buffer->data(), buffer->bytes()), buffer_(std::move(buffer)), owner_(std::move(owner)) {}
  const DeviceBuffer& device() const { return *buffer_; }

 private:
  std::unique_ptr<DeviceBuffer> buffer_;
  std::shared_ptr<const void> owner_;
};

class MetalActivations final : public Activations {
 public:
  MetalActivations(std::unique_ptr<DeviceBuffer> buffer, int64_t max_rows, int64_t cols)
      : buffer_(std::move(buffer)), max_rows_(max_rows), cols_(cols) {}
  int64_t max_rows() const override { return max_rows_; }
  int64_t cols() const override { return cols_; }
  const DeviceBuffer& device() const { return *buffer_; }

 private:
  std::unique_ptr<DeviceBuffer> buffer_;
  int64_t max_rows_, cols_;
};

class MetalState final : public HostState {
 public:
  static Result<std::unique_ptr<State>> create(Device& device, const StateDescription& description);
  const DeviceBuffer& device() const { return *buffer_; }

 private:
  std::unique_ptr<DeviceBuffer> buffer_;
};

class MetalBackend final : public Backend {
 public:
  MetalBackend(std::string_view name, std::unique_ptr<Device> device) : name_(name), device_(std::move(device)) {}
  std::string_view name() const override { return name_; }
  std::string_view isa() const override { return device_->isa(); }
  int threads() const override { return device_->threads(); }
  Support supports(OperationKind operation, Format format, const Shape& shape) const override;
  Result<std::unique_ptr<Buffer>> new_buffer(uint64_t size) override;
  Result<std::unique_ptr<Buffer>> wrap(void* memory, uint64_t size, std::shared_ptr<const void> owner) override;
  Result<std::unique_ptr<Weights>> new_weights(std::span<const MatrixDescription> parts, Layout layout) override;
  Result<std::unique_ptr<Activations>> new_activations(int64_t max_rows, int64_t cols,
                                                       std::span<const Weights* const> readers) override;
  Result<std::unique_ptr<State>> new_state(const StateDescription& description) override;
  Result<std::unique_ptr<Plan>> plan(std::span<const Operation> operations, const PlanOptions& options) override;
  Device& device() const { return *device_; }

 private:
  const std::string name_;
  const std::unique_ptr<Device> device_;
};

// "metal-lanes", for the list of backends.
Status lanes_available();
std::vector<InstructionSet> lane_modes();
Result<std::unique_ptr<Backend>> create_on_lanes(const BackendOptions& options);

}  // namespace soffit::metal
