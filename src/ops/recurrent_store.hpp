// The recurrent part of one layer: for each sequence the last inputs of its convolution, (taps - 1, channels), oldest
// first, and its heads' matrices, (heads, key_dim, value_dim).
//
// Work is shared out by units, a range of channels or a head. Each unit counts the rows it has seen, so that whoever
// runs it can tell a row that is not the next one without asking the other members.
#pragma once

#include <vector>

#include "soffit/state.hpp"

namespace soffit {

class RecurrentStore {
 public:
  static constexpr int64_t kChannels = 256;  // of a unit

  static Result<RecurrentStore> create(const RecurrentLayer& layer, const StateDescription& state);
  uint64_t bytes() const { return bytes_; }
  void place(uint8_t* memory) { memory_ = reinterpret_cast<float*>(memory); }

  const RecurrentLayer& layer() const { return layer_; }
  int64_t channel_units() const { return (layer_.channels + kChannels - 1) / kChannels; }
  float* inputs(int64_t sequence, int64_t tap) const { return all(sequence).data() + tap * layer_.channels; }
  float* matrix(int64_t sequence, int64_t head) const {
    return inputs(sequence, held_inputs()) + head * layer_.key_dim * layer_.value_dim;
  }
  // Rows that a unit has seen.
  int64_t& channel_rows(int64_t sequence, int64_t unit) { return rows_[size_t(sequence * units() + unit)]; }
  int64_t& head_rows(int64_t sequence, int64_t head) { return channel_rows(sequence, channel_units() + head); }

  // Whether the sequence is at this position, or is to be empty.
  Status can_cut(int64_t sequence, int64_t length) const;
  // All that a sequence holds.
  std::span<float> all(int64_t sequence) const { return {memory_ + sequence * floats(), size_t(floats())}; }
  // A sequence is at this position now. At 0 it holds zeros.
  void filled(int64_t sequence, int64_t length);

 private:
  int64_t held_inputs() const { return layer_.channels ? layer_.taps - 1 : 0; }
  int64_t floats() const { return held_inputs() * layer_.channels + layer_.heads * layer_.key_dim * layer_.value_dim; }
  int64_t units() const { return channel_units() + layer_.heads; }

  RecurrentLayer layer_;
  uint64_t bytes_ = 0;
  float* memory_ = nullptr;
  std::vector<int64_t> rows_;  // (sequences, units)
};

}  // namespace soffit
