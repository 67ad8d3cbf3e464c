// Keys and values of one layer, for each sequence and head: values as rows of head_dim elements, keys transposed in
// blocks of 64 positions, so that a vector of positions lies side by side. A layer with a window is a ring: position p
// lies in slot p mod held.
#pragma once

#include <atomic>
#include <memory>

#include "ops/key_block.hpp"
#include "soffit/state.hpp"

namespace soffit {

class KeyValueStore {
 public:
  static Result<KeyValueStore> create(const KeyValueLayer& layer, const StateDescription& state);
  uint64_t bytes() const { return bytes_; }
  void place(uint8_t* memory) { memory_ = memory; }

  const KeyValueLayer& layer() const { return layer_; }
  int64_t held() const { return held_; }  // slots of a sequence, whole blocks
  bool half() const { return type_ == DataType::f16; }
  uint8_t* keys(int64_t sequence, int64_t head) const { return at(sequence, head, 0); }
  uint8_t* values(int64_t sequence, int64_t head) const { return at(sequence, head, 1); }

  // Where a position lies: its slot, and its element of keys, whose next is kKeyBlock on.
  int64_t slot(int64_t position) const { return position < held_ ? position : position % held_; }
  int64_t first_key(int64_t slot) const { return slot / kKeyBlock * kKeyBlock * layer_.head_dim + slot % kKeyBlock; }
  // Positions up to this one are there: what it overwrote is gone. From any thread.
  void appended(int64_t sequence, int64_t position) const;
  // The first position that has not been overwritten.
  int64_t first_held(int64_t sequence) const;

  // Whether the row at `length` would find what it sees.
  Status can_cut(int64_t sequence, int64_t length) const;
  void cut(int64_t sequence, int64_t length);
  // What holds the first `length` positions of a sequence, those that are held: f(bytes, count), whole blocks.
  template <class F>
  void for_each_range(int64_t sequence, int64_t length, F&& f) const {
    const int64_t blocks = (length + kKeyBlock - 1) / kKeyBlock, slots = std::min(held_, blocks * kKeyBlock);
    for (int64_t head = 0; head < layer_.heads; ++head)
      for (int which = 0; which < 2; ++which)
        f(at(sequence, head, which), size_t(slots * layer_.head_dim * size_of(type_)));
  }
  // A sequence now holds positions [first, length), copied there by way of for_each_range.
  void filled(int64_t sequence, int64_t first, int64_t length);

 private:
  // What the ring of a sequence holds: positions [max(begin, end - held), end).
  struct Extent {
    std::atomic<int64_t> end{0};
    int64_t begin = 0;  // what a cut has left
  };
  uint8_t* at(int64_t sequence, int64_t head, int which) const {
    const int64_t row = ((sequence * layer_.heads + head) * 2 + which) * held_;
    return memory_ + row * layer_.head_dim * size_of(type_);
  }

  KeyValueLayer layer_;
  DataType type_ = DataType::f16;
  int64_t held_ = 0;
  uint64_t bytes_ = 0;
  uint8_t* memory_ = nullptr;
  std::unique_ptr<Extent[]> extents_;  // of each sequence; of layers with a window
};

}  // namespace soffit
