// A CUDA GPU as a device of the Metal backend: its kernels are the .metal files, compiled by nvcc (lanes/shim/cuda.h).
// It is there to run them on real parallel hardware and under compute-sanitizer, not to be fast: a dispatch takes
// copies of what is bound to it, each an allocation of just these bytes, so that whatever lies outside is nobody's.
#pragma once

#include "metal/cuda/libraries.hpp"
#include "metal/device.hpp"

namespace soffit::metal {

Status cuda_available();
Result<std::unique_ptr<Device>> cuda_device(std::span<const CudaLibrary> libraries, int ordinal = 0);

}  // namespace soffit::metal
