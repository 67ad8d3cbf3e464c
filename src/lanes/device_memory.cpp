#include "lanes/device_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/checked.hpp"
#include "core/concat.hpp"

namespace soffit::lanes {
namespace {

constexpr uint64_t kPage = 16384;  // of Apple's machines, and a multiple of all others'
constexpr uint64_t kGaps[] = {uint64_t(4) << 30, uint64_t(64) << 20, kPage};  // the largest for which there is room

}  // namespace

Result<DeviceMemory> DeviceMemory::create(uint64_t bytes) {
  const auto whole = checked_align(bytes ? bytes : 1, kPage);
  for (const uint64_t gap : kGaps) {
    const auto all = whole ? checked_add(*whole, 2 * gap) : std::nullopt;
    if (!all || *all > SIZE_MAX / 2) continue;
    void* mapping = mmap(nullptr, *all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) continue;
    DeviceMemory memory;
    memory.mapping_ = static_cast<std::byte*>(mapping);
    memory.mapped_ = *all;
    memory.bytes_ = bytes;
    memory.data_ = memory.mapping_ + gap;
    if (mprotect(memory.data_, *whole, PROT_READ | PROT_WRITE) == 0) return memory;
  }
  return Error{Code::out_of_memory, concat("no memory for a buffer of ", bytes, " bytes: ", std::strerror(errno))};
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& from) noexcept {
  std::swap(mapping_, from.mapping_);
  std::swap(data_, from.data_);
  std::swap(mapped_, from.mapped_);
  std::swap(bytes_, from.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (mapping_) munmap(mapping_, mapped_);
}

}  // namespace soffit::lanes
