// The memory that a kernel may touch, and the rules of touching it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lanes/launch.hpp"

namespace soffit::lanes {

// Who asks, and since when. Epochs count the barriers that order the kind of memory.
struct Accessor {
  uint32_t group;       // the threadgroup's number in the launch, from 1
  uint32_t simdgroup;   // in the threadgroup
  uint32_t lane;        // in the simdgroup
  uint32_t epoch;       // threadgroup barriers so far
  uint32_t simd_epoch;  // barriers of the simdgroup, those of the threadgroup included
};

// The last accesses to a byte, as far as they matter for finding races.
//
// Two accesses by different lanes, one of them a write, are a race unless a barrier lies between: of the threadgroup,
// or of the simdgroup if both lanes are in it. Different threadgroups are never ordered.
class ByteHistory {
 public:
  bool written(uint32_t group) const { return write_.group == group; }
  // The other lane that it races with; nullopt when all is well.
  std::optional<Accessor> read(const Accessor& by);
  std::optional<Accessor> write(const Accessor& by);

 private:
  static bool ordered(const Accessor& before, const Accessor& now);
  Accessor write_{}, read_{};
  // More than one lane has read in this epoch; lanes of more than one simdgroup, or threadgroup.
  bool many_lanes_ = false, many_simdgroups_ = false, many_groups_ = false;
};

// Histories of pages that were touched.
class Histories {
 public:
  explicit Histories(uint64_t bytes) : pages_((bytes + kPage - 1) / kPage) {}
  ByteHistory& of(uint64_t offset) {
    auto& page = pages_[offset / kPage];
    if (!page) page = std::make_unique<std::array<ByteHistory, kPage>>();
    return (*page)[offset % kPage];
  }

 private:
  static constexpr uint64_t kPage = 256;
  std::vector<std::unique_ptr<std::array<ByteHistory, kPage>>> pages_;
};

// A set of bytes of a buffer.
class ByteSet {
 public:
  // Adds the bytes and returns how many were new.
  uint64_t add(uint64_t offset, uint64_t bytes);
  void clear();

 private:
  static constexpr uint64_t kPage = 4096;
  std::vector<std::unique_ptr<std::array<uint64_t, kPage / 64>>> pages_;
  std::vector<uint64_t> used_;
};

struct Region {
  enum class Kind : uint8_t { buffer, threadgroup, table };
  Kind kind;
  uintptr_t begin, end;
  uint32_t index;  // of a buffer
  std::string name;
  const Buffer* buffer = nullptr;
  std::unique_ptr<Histories> histories;  // where races are looked for
};

class AddressMap {
 public:
  AddressMap(const Library& library, const Kernel& kernel, const Launch& launch);
  // Threadgroup memory comes anew with each threadgroup.
  void drop_threadgroup_memory();
  Region& add_threadgroup_memory(std::byte* begin, uint64_t bytes, std::string name);

  // The region that holds all the bytes; null when none does.
  Region* find(const void* address, uint64_t bytes);
  // "512 bytes behind the end of buffer 1 'weights' (2304 bytes)"
  std::string describe(const void* address) const;

 private:
  std::vector<Region> regions_;
  size_t last_ = 0;
};

}  // namespace soffit::lanes
