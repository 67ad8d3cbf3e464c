// How kernels get their parameters on a GPU: grid of threadgroups = grid of blocks.
#pragma once

#include "cuda_library.h"

namespace soffit::lanes {

__device__ inline BufferArgument buffer_argument(const GridArguments& arguments, uint32_t index) {
  return {arguments.buffers[index]};
}

extern __shared__ uint4 threadgroup_memory[];
__device__ inline BufferArgument threadgroup_argument(const GridArguments&, uint32_t) { return {threadgroup_memory}; }

__device__ inline Position position_of(dim3 at) { return {at.x, at.y, at.z}; }
__device__ inline PositionArgument position_argument(const GridArguments&, Parameter kind) {
  const uint32_t index = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
  switch (kind) {
    case Parameter::thread_position_in_grid:
      return {{blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
               blockIdx.z * blockDim.z + threadIdx.z}};
    case Parameter::threads_per_grid:
      return {{gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z}};
    case Parameter::threadgroup_position_in_grid:
      return {position_of(blockIdx)};
    case Parameter::threadgroups_per_grid:
      return {position_of(gridDim)};
    case Parameter::thread_position_in_threadgroup:
      return {position_of(threadIdx)};
    case Parameter::threads_per_threadgroup:
      return {position_of(blockDim)};
    case Parameter::thread_index_in_threadgroup:
      return {{index, 0, 0}};
    case Parameter::thread_index_in_simdgroup:
      return {{index % kLanes, 0, 0}};
    case Parameter::threads_per_simdgroup:
      return {{kLanes, 0, 0}};
    case Parameter::simdgroup_index_in_threadgroup:
      return {{index / kLanes, 0, 0}};
    case Parameter::simdgroups_per_threadgroup:
      return {{(threads + kLanes - 1) / kLanes, 0, 0}};
    case Parameter::buffer:
    case Parameter::threadgroup:
      break;
  }
  return {};
}

}  // namespace soffit::lanes
