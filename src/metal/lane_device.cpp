#include "metal/lane_device.hpp"

#include <map>
#include <mutex>

#include "core/concat.hpp"
#include "lanes/launch.hpp"
#include "metal/host_buffers.hpp"
#include "metal/lane_libraries.hpp"

namespace soffit::metal {
namespace {

struct LanePipeline final : Pipeline {
  const lanes::Library* library = nullptr;
  const lanes::Kernel* kernel = nullptr;
  std::map<uint32_t, lanes::ConstantValue> constants;
};

class LaneDevice final : public Device {
 public:
  LaneDevice(LaneMode mode, int threads) : mode_(mode), threads_(threads) {}
  std::string_view isa() const override { return mode_ == LaneMode::checked ? "checked" : "plain"; }
  int threads() const override { return threads_; }

  Result<std::unique_ptr<DeviceBuffer>> new_buffer(uint64_t bytes) override { return OwnBuffer::create(bytes); }
  Result<std::unique_ptr<DeviceBuffer>> wrap(std::span<std::byte> memory) override {
    return std::unique_ptr<DeviceBuffer>(std::make_unique<WrappedBuffer>(memory));
  }
  Result<const Pipeline*> pipeline(const std::string& kernel, const std::vector<FunctionConstant>& constants) override;
  Status run(std::span<const Dispatch> dispatches) override;

 private:
  Status run(const Dispatch& dispatch) const;

  const LaneMode mode_;
  const int threads_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<LanePipeline>> pipelines_;  // by kernel and constants
};

Result<const Pipeline*> LaneDevice::pipeline(const std::string& kernel,
                                             const std::vector<FunctionConstant>& constants) {
  std::string key = kernel;
  for (const auto& c : constants) key += concat(" ", c.index, "=", c.value);
  const std::lock_guard lock(mutex_);
  auto& pipeline = pipelines_[key];
  if (pipeline) return pipeline.get();
  for (const auto& library : lane_libraries()) {
    const lanes::Library* l = (mode_ == LaneMode::checked ? library.checked : library.plain)();
    const lanes::Kernel* found = find_kernel(*l, kernel);
    if (!found) continue;
    pipeline = std::make_unique<LanePipeline>();
    pipeline->library = l;
    pipeline->kernel = found;
    for (const auto& c : constants) pipeline->constants[c.index] = {.integer = c.value};
    return pipeline.get();
  }
  pipelines_.erase(key);
  return unsupported(concat("no Metal kernel ", kernel));
}

Status LaneDevice::run(const Dispatch& dispatch) const {
  const auto& pipeline = static_cast<const LanePipeline&>(*dispatch.pipeline);
  lanes::Launch launch;
  launch.grid = {dispatch.grid.x, dispatch.grid.y, dispatch.grid.z};
  launch.threadgroup = {dispatch.threads, 1, 1};
  launch.constants = pipeline.constants;
  launch.threads = unsigned(threads_);
  if (dispatch.threadgroup_bytes) launch.threadgroup_bytes[0] = dispatch.threadgroup_bytes;
  std::vector<std::byte> arguments = dispatch.arguments;
  launch.buffers[0] = {arguments.data(), arguments.size(), lanes::Role::index, {}};
  for (size_t i = 0; i < dispatch.buffers.size(); ++i) {
    const Binding& b = dispatch.buffers[i];
    launch.buffers[uint32_t(i + 1)] = {b.buffer->data() + b.offset, b.bytes, lanes::Role::activations, {}};
  }
  for (uint32_t p = 0; p < pipeline.kernel->parameter_count; ++p) {
    const auto& parameter = pipeline.kernel->parameters[p];
    if (parameter.kind == lanes::Parameter::buffer && parameter.writable)
      launch.buffers[parameter.index].role = lanes::Role::output;
  }
  SOFFIT_TRY(const lanes::Outcome outcome, lanes::run(*pipeline.library, *pipeline.kernel, launch));
  if (outcome.fault_count > 0)
    return Error{Code::internal, concat(outcome.fault_count, " faults: ", to_text(outcome.faults.front()))};
  return {};
}

Status LaneDevice::run(std::span<const Dispatch> dispatches) {
  for (const auto& d : dispatches)
    if (d.grid.x > 0 && d.grid.y > 0 && d.grid.z > 0) SOFFIT_CHECK(run(d));
  return {};
}

}  // namespace

std::unique_ptr<Device> lane_device(LaneMode mode, int threads) { return std::make_unique<LaneDevice>(mode, threads); }

}  // namespace soffit::metal
