// Every .metal file of src/metal as nvcc compiled it (cmake/soffit_metal_cuda.cmake makes the list).
#pragma once

#include <span>

#include "lanes/shim/cuda_library.h"

namespace soffit::metal {

using CudaLibrary = const lanes::CudaLibrary* (*)();
std::span<const CudaLibrary> cuda_libraries();

}  // namespace soffit::metal
