// Runs one kernel of tests/lanes/faulty.metal on the GPU, for compute-sanitizer to find what is planted there:
// metal_cuda_faulty KERNEL. Exits with 1 if the kernel cannot be run.
#include <cstdio>
#include <numeric>
#include <string_view>

#include "metal/cuda/device.hpp"

extern "C" const soffit::lanes::CudaLibrary* soffit_metal_faulty_cuda();

namespace soffit::metal {
namespace {

constexpr uint32_t kThreads = 64;

Status run_kernel(const char* kernel) {
  static constexpr CudaLibrary kLibraries[] = {soffit_metal_faulty_cuda};
  SOFFIT_TRY(const auto device, cuda_device(kLibraries));
  SOFFIT_TRY(const auto x, device->new_buffer(kThreads * 4));
  SOFFIT_TRY(const auto y, device->new_buffer(kThreads * 4));
  auto* values = reinterpret_cast<float*>(x->data());
  std::iota(values, values + kThreads, 1.0f);
  Dispatch dispatch;
  SOFFIT_TRY(dispatch.pipeline, device->pipeline(kernel, {}));
  // These kernels have their first buffer where the backend's have their arguments.
  dispatch.arguments = {x->data(), x->data() + x->bytes()};
  dispatch.buffers = {{y.get(), 0, y->bytes()}};
  dispatch.threads = kThreads;
  if (kernel == std::string_view("fine")) dispatch.threadgroup_bytes = 8;
  return device->run({&dispatch, 1});
}

}  // namespace
}  // namespace soffit::metal

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: metal_cuda_faulty KERNEL\n", stderr);
    return 2;
  }
  const soffit::Status ran = soffit::metal::run_kernel(argv[1]);
  if (!ran) std::fprintf(stderr, "%s\n", ran.error().message.c_str());
  return ran ? 0 : 1;
}
