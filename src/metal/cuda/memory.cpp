#include "metal/cuda/memory.hpp"

#include <algorithm>

#include "core/concat.hpp"

namespace soffit::metal {
namespace {

constexpr uint64_t kMostKept = uint64_t(2) << 30;
constexpr uint64_t kAlignment = 16;  // the largest of Metal's types

}  // namespace

Status cuda_status(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return {};
  const Code code = error == cudaErrorMemoryAllocation ? Code::out_of_memory : Code::internal;
  return Error{code, concat("CUDA: ", what, ": ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")")};
}

CudaPool::~CudaPool() { clear(); }

void CudaPool::clear() {
  for (const auto& [bytes, list] : free_) {
    for (std::byte* memory : list) (void)cudaFree(memory);
  }
  free_.clear();
  free_bytes_ = 0;
}

Result<std::byte*> CudaPool::take(uint64_t bytes) {
  auto& list = free_[bytes];
  if (!list.empty()) {
    std::byte* memory = list.back();
    list.pop_back();
    free_bytes_ -= bytes;
    return memory;
  }
  void* memory = nullptr;
  SOFFIT_CHECK(cuda_status(cudaMalloc(&memory, bytes), concat("an allocation of ", bytes, " bytes")));
  return static_cast<std::byte*>(memory);
}

void CudaPool::give(std::byte* memory, uint64_t bytes) {
  free_[bytes].push_back(memory);
  free_bytes_ += bytes;
  if (free_bytes_ > kMostKept) clear();
}

CudaCopies::~CudaCopies() {
  for (const Copy& copy : copies_) pool_.give(copy.allocation, copy.lead + copy.host.bytes);
}

Status CudaCopies::take(std::span<const HostRange> ranges) {
  std::vector<HostRange> sorted;
  for (const HostRange& range : ranges) {
    if (range.bytes) sorted.push_back(range);
  }
  std::ranges::sort(sorted, {}, &HostRange::data);
  std::vector<HostRange> joined;
  for (const HostRange& range : sorted) {
    if (joined.empty() || range.data >= joined.back().data + joined.back().bytes) {
      joined.push_back(range);
      continue;
    }
    HostRange& last = joined.back();
    last.bytes = std::max(last.bytes, uint64_t(range.data - last.data) + range.bytes);
    last.written |= range.written;
  }
  for (const HostRange& range : joined) {
    Copy copy{range, nullptr, reinterpret_cast<uintptr_t>(range.data) % kAlignment};
    SOFFIT_TRY(copy.allocation, pool_.take(copy.lead + range.bytes));
    copies_.push_back(copy);
    SOFFIT_CHECK(
        cuda_status(cudaMemcpy(copy.allocation + copy.lead, range.data, size_t(range.bytes), cudaMemcpyHostToDevice),
                    concat("a copy of ", range.bytes, " bytes to the device")));
  }
  return {};
}

std::byte* CudaCopies::of(const HostRange& range) const {
  for (const Copy& copy : copies_) {
    if (range.bytes && range.data >= copy.host.data && range.data < copy.host.data + copy.host.bytes)
      return copy.allocation + copy.lead + (range.data - copy.host.data);
  }
  return nullptr;
}

Status CudaCopies::bring_back() {
  for (const Copy& copy : copies_) {
    if (!copy.host.written) continue;
    SOFFIT_CHECK(cuda_status(
        cudaMemcpy(copy.host.data, copy.allocation + copy.lead, size_t(copy.host.bytes), cudaMemcpyDeviceToHost),
        concat("a copy of ", copy.host.bytes, " bytes from the device")));
  }
  return {};
}

}  // namespace soffit::metal
