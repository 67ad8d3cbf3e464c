// What a .metal file that nvcc has compiled says of itself to the host.
#pragma once

#include "library.h"

namespace soffit::lanes {

inline constexpr uint32_t kMostBuffers = 16, kMostConstants = 8;

// The arguments of a launch; positions are the thread's own.
struct GridArguments {
  void* buffers[kMostBuffers];
};

// Of the function constants, by their place in CudaLibrary::constants.
struct ConstantSettings {
  uint32_t values[kMostConstants];
  bool defined[kMostConstants];
};

// Functions that the CUDA runtime launches: (GridArguments), (ConstantSettings).
struct CudaKernel {
  const char* name;
  const KernelParameter* parameters;
  uint32_t parameter_count;
  uint32_t max_threads;  // of a threadgroup; 0 when it does not say
  const void* run;
};
struct CudaConstant {
  const char* name;
  uint32_t index;
  bool optional;
};
struct CudaLibrary {
  const char* source;
  const CudaKernel* kernels;
  uint32_t kernel_count;
  const CudaConstant* constants;
  uint32_t constant_count;
  const void* set_constants;  // launched with one thread
};

}  // namespace soffit::lanes
