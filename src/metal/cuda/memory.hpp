// Copies of host memory on the GPU, for one dispatch.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::metal {

Status cuda_status(cudaError_t error, std::string_view what);

// Allocations by their exact size, kept for the next dispatch.
class CudaPool {
 public:
  CudaPool() = default;
  CudaPool(const CudaPool&) = delete;
  CudaPool& operator=(const CudaPool&) = delete;
  ~CudaPool();
  Result<std::byte*> take(uint64_t bytes);
  void give(std::byte* memory, uint64_t bytes);

 private:
  void clear();
  std::map<uint64_t, std::vector<std::byte*>> free_;
  uint64_t free_bytes_ = 0;
};

struct HostRange {
  std::byte* data = nullptr;
  uint64_t bytes = 0;
  bool written = false;
};

// Ranges that overlap on the host overlap on the GPU; all others are allocations of their own.
class CudaCopies {
 public:
  explicit CudaCopies(CudaPool& pool) : pool_(pool) {}
  CudaCopies(const CudaCopies&) = delete;
  CudaCopies& operator=(const CudaCopies&) = delete;
  ~CudaCopies();
  Status take(std::span<const HostRange> ranges);
  std::byte* of(const HostRange& range) const;  // on the GPU; null of an empty range
  Status bring_back();                          // what kernels may have written

 private:
  struct Copy {
    HostRange host;
    std::byte* allocation = nullptr;
    uint64_t lead = 0;  // as far from a multiple of the largest alignment as on the host
  };
  CudaPool& pool_;
  std::vector<Copy> copies_;
};

}  // namespace soffit::metal
