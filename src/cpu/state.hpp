// The state of all sequences: a store for each layer, in one memory.
#pragma once

#include <variant>

#include "cpu/key_value_store.hpp"
#include "cpu/memory.hpp"
#include "cpu/recurrent_store.hpp"

namespace soffit::cpu {

class CpuState final : public State {
 public:
  static Result<std::unique_ptr<State>> create(const StateDescription& description);
  const StateDescription& description() const override { return description_; }
  uint64_t size_bytes() const override { return memory_.size(); }
  Status clear(int64_t sequence) override { return truncate(sequence, 0); }
  Status truncate(int64_t sequence, int64_t length) override;
  Status copy(int64_t from, int64_t to, int64_t length) override;
  Result<std::vector<std::byte>> save(int64_t sequence, int64_t length) const override;
  Status load(int64_t sequence, std::span<const std::byte> saved) override;

  // Null where the layer is of the other kind.
  KeyValueStore* key_values(int64_t layer) { return std::get_if<KeyValueStore>(&layers_[size_t(layer)]); }
  const KeyValueStore* key_values(int64_t layer) const { return std::get_if<KeyValueStore>(&layers_[size_t(layer)]); }
  RecurrentStore* recurrent(int64_t layer) { return std::get_if<RecurrentStore>(&layers_[size_t(layer)]); }

 private:
  Status check(int64_t sequence, int64_t length) const;
  Status can_cut(int64_t sequence, int64_t length) const;
  // Calls f(bytes, count) for all that holds the first `length` positions of a sequence.
  template <class F>
  void for_each_range(int64_t sequence, int64_t length, F&& f) const;

  StateDescription description_;
  std::vector<std::variant<KeyValueStore, RecurrentStore>> layers_;
  Memory memory_;
};

}  // namespace soffit::cpu
