#include "metal/cuda/device.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "core/concat.hpp"
#include "lanes/threadgroup.hpp"
#include "metal/cuda/memory.hpp"
#include "metal/host_buffers.hpp"

namespace soffit::metal {
namespace {

constexpr uint32_t kMostGroups = 65535;  // of a grid, in y and in z

// Metal hands out threadgroup memory by 16 bytes, and nvcc reads up to that much at once.
uint32_t whole_threadgroup_bytes(const Dispatch& dispatch) { return (dispatch.threadgroup_bytes + 15) / 16 * 16; }

struct CudaPipeline final : Pipeline {
  const lanes::CudaLibrary* library = nullptr;
  const lanes::CudaKernel* kernel = nullptr;
  lanes::ConstantSettings constants{};
  uint64_t threadgroup_bytes = 0;  // of its own variables
  uint32_t max_threads = 0;
};

Result<lanes::ConstantSettings> settings(const lanes::CudaLibrary& library,
                                         const std::vector<FunctionConstant>& constants) {
  lanes::ConstantSettings result{};
  for (uint32_t c = 0; c < library.constant_count; ++c) {
    const lanes::CudaConstant& constant = library.constants[c];
    const auto given = std::ranges::find(constants, constant.index, &FunctionConstant::index);
    result.defined[c] = given != constants.end();
    if (result.defined[c]) result.values[c] = given->value;
    if (!result.defined[c] && !constant.optional) {
      return invalid_argument(concat("function constant ", constant.index, ", '", constant.name, "', has no value"));
    }
  }
  return result;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(std::span<const CudaLibrary> libraries, int ordinal) : libraries_(libraries), ordinal_(ordinal) {}
  std::string_view isa() const override { return "plain"; }
  int threads() const override { return 1; }
  Result<std::unique_ptr<DeviceBuffer>> new_buffer(uint64_t bytes) override { return OwnBuffer::create(bytes); }
  Result<std::unique_ptr<DeviceBuffer>> wrap(std::span<std::byte> memory) override {
    return std::unique_ptr<DeviceBuffer>(std::make_unique<WrappedBuffer>(memory));
  }
  Result<const Pipeline*> pipeline(const std::string& kernel, const std::vector<FunctionConstant>& constants) override;
  Status run(std::span<const Dispatch> dispatches) override;

 private:
  Result<std::unique_ptr<CudaPipeline>> make_pipeline(const std::string& name,
                                                      const std::vector<FunctionConstant>& constants) const;
  Status check(const CudaPipeline& pipeline, const Dispatch& dispatch) const;
  Status run(const Dispatch& dispatch);

  const std::span<const CudaLibrary> libraries_;
  const int ordinal_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<CudaPipeline>> pipelines_;  // by kernel and constants
  CudaPool pool_;
};

Result<std::unique_ptr<CudaPipeline>> CudaDevice::make_pipeline(const std::string& name,
                                                                const std::vector<FunctionConstant>& constants) const {
  for (const CudaLibrary library : libraries_) {
    const lanes::CudaLibrary* l = library();
    const std::span kernels(l->kernels, l->kernel_count);
    const auto kernel =
        std::ranges::find(kernels, name, [](const lanes::CudaKernel& k) { return std::string(k.name); });
    if (kernel == kernels.end()) continue;
    auto pipeline = std::make_unique<CudaPipeline>();
    pipeline->library = l;
    pipeline->kernel = &*kernel;
    SOFFIT_TRY(pipeline->constants, settings(*l, constants));
    for (uint32_t p = 0; p < kernel->parameter_count; ++p) {
      const auto& parameter = kernel->parameters[p];
      const bool is_buffer = parameter.kind == lanes::Parameter::buffer;
      if ((is_buffer && parameter.index >= lanes::kMostBuffers) ||
          (parameter.kind == lanes::Parameter::threadgroup && parameter.index != 0)) {
        return unsupported(
            concat("kernel ", name, ": ", is_buffer ? "buffer " : "threadgroup memory ", parameter.index));
      }
    }
    cudaFuncAttributes attributes{};
    SOFFIT_CHECK(cuda_status(cudaFuncGetAttributes(&attributes, kernel->run), concat("kernel ", name)));
    pipeline->threadgroup_bytes = attributes.sharedSizeBytes;
    pipeline->max_threads = uint32_t(attributes.maxThreadsPerBlock);
    return pipeline;
  }
  return unsupported(concat("no Metal kernel ", name));
}

Result<const Pipeline*> CudaDevice::pipeline(const std::string& kernel,
                                             const std::vector<FunctionConstant>& constants) {
  std::string key = kernel;
  for (const auto& c : constants) key += concat(" ", c.index, "=", c.value);
  const std::lock_guard lock(mutex_);
  const auto known = pipelines_.find(key);
  if (known != pipelines_.end()) return known->second.get();
  SOFFIT_CHECK(cuda_status(cudaSetDevice(ordinal_), concat("device ", ordinal_)));
  SOFFIT_TRY(auto made, make_pipeline(kernel, constants));
  return pipelines_.emplace(key, std::move(made)).first->second.get();
}

Status CudaDevice::check(const CudaPipeline& pipeline, const Dispatch& dispatch) const {
  if (dispatch.threads == 0 || dispatch.threads > pipeline.max_threads) {
    return invalid_argument(concat("threadgroups of ", dispatch.threads, " threads; kernel ", pipeline.kernel->name,
                                   " takes 1 to ", pipeline.max_threads));
  }
  if (dispatch.grid.y > kMostGroups || dispatch.grid.z > kMostGroups || dispatch.grid.x > INT32_MAX) {
    return unsupported(concat("a grid of ", dispatch.grid.x, " x ", dispatch.grid.y, " x ", dispatch.grid.z,
                              " threadgroups; CUDA has ", INT32_MAX, " x ", kMostGroups, " x ", kMostGroups));
  }
  const uint64_t memory = pipeline.threadgroup_bytes + whole_threadgroup_bytes(dispatch);
  if (memory > lanes::kThreadgroupMemory) {
    return invalid_argument(
        concat("threadgroup memory of ", memory, " bytes; a threadgroup has ", lanes::kThreadgroupMemory));
  }
  for (uint32_t p = 0; p < pipeline.kernel->parameter_count; ++p) {
    const auto& parameter = pipeline.kernel->parameters[p];
    if (parameter.kind == lanes::Parameter::buffer && parameter.index > dispatch.buffers.size()) {
      return invalid_argument(concat("nothing is bound to buffer ", parameter.index, ", '", parameter.name,
                                     "' of kernel ", pipeline.kernel->name));
    }
  }
  return {};
}

// They are variables of the library's module, which all devices share.
Status set_constants(const CudaPipeline& pipeline) {
  if (pipeline.library->constant_count == 0) return {};
  lanes::ConstantSettings values = pipeline.constants;
  void* parameters[] = {&values};
  return cuda_status(cudaLaunchKernel(pipeline.library->set_constants, dim3(1), dim3(1), parameters, 0, nullptr),
                     concat("function constants of ", pipeline.library->source));
}

Status CudaDevice::run(const Dispatch& dispatch) {
  const auto& pipeline = static_cast<const CudaPipeline&>(*dispatch.pipeline);
  SOFFIT_CHECK(check(pipeline, dispatch));
  std::vector<std::byte> arguments = dispatch.arguments;
  std::vector<HostRange> ranges = {{arguments.data(), arguments.size(), false}};
  for (const Binding& b : dispatch.buffers) ranges.push_back({b.buffer->data() + b.offset, b.bytes, false});
  for (uint32_t p = 0; p < pipeline.kernel->parameter_count; ++p) {
    const auto& parameter = pipeline.kernel->parameters[p];
    if (parameter.kind == lanes::Parameter::buffer && parameter.writable) ranges[parameter.index].written = true;
  }
  CudaCopies copies(pool_);
  SOFFIT_CHECK(copies.take(ranges));
  lanes::GridArguments grid{};
  for (size_t i = 0; i < std::min<size_t>(ranges.size(), lanes::kMostBuffers); ++i)
    grid.buffers[i] = copies.of(ranges[i]);
  SOFFIT_CHECK(set_constants(pipeline));
  void* parameters[] = {&grid};
  const std::string what = concat("kernel ", pipeline.kernel->name);
  SOFFIT_CHECK(
      cuda_status(cudaLaunchKernel(pipeline.kernel->run, dim3(dispatch.grid.x, dispatch.grid.y, dispatch.grid.z),
                                   dim3(dispatch.threads), parameters, whole_threadgroup_bytes(dispatch), nullptr),
                  what));
  SOFFIT_CHECK(cuda_status(cudaDeviceSynchronize(), what));
  return copies.bring_back();
}

Status CudaDevice::run(std::span<const Dispatch> dispatches) {
  static std::mutex one_at_a_time;  // of all devices: see set_constants
  const std::lock_guard lock(one_at_a_time);
  SOFFIT_CHECK(cuda_status(cudaSetDevice(ordinal_), concat("device ", ordinal_)));
  for (const auto& d : dispatches)
    if (d.grid.x > 0 && d.grid.y > 0 && d.grid.z > 0) SOFFIT_CHECK(run(d));
  return {};
}

}  // namespace

Status cuda_available() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0)
    return unsupported(concat("no CUDA device: ", error == cudaSuccess ? "there is none" : cudaGetErrorString(error)));
  return {};
}

Result<std::unique_ptr<Device>> cuda_device(std::span<const CudaLibrary> libraries, int ordinal) {
  SOFFIT_CHECK(cuda_available());
  int count = 0;
  SOFFIT_CHECK(cuda_status(cudaGetDeviceCount(&count), "count of devices"));
  if (ordinal < 0 || ordinal >= count)
    return unsupported(concat("device ", ordinal, ": there are ", count, ", counted from 0"));
  return std::unique_ptr<Device>(std::make_unique<CudaDevice>(libraries, ordinal));
}

}  // namespace soffit::metal
