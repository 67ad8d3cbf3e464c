// The state of all sequences in memory that the host reaches: a store for each layer. A backend derives its own from it
// and says where the memory comes from.
#pragma once

#include <variant>

#include "ops/key_value_store.hpp"
#include "ops/recurrent_store.hpp"

namespace soffit {

class HostState : public State {
 public:
  const StateDescription& description() const override { return description_; }
  uint64_t size_bytes() const override { return bytes_; }
  Status clear(int64_t sequence) override { return truncate(sequence, 0); }
  Status truncate(int64_t sequence, int64_t length) override;
  Status copy(int64_t from, int64_t to, int64_t length) override;
  Result<std::vector<std::byte>> save(int64_t sequence, int64_t length) const override;
  Status load(int64_t sequence, std::span<const std::byte> saved) override;

  // Null where the layer is of the other kind.
  KeyValueStore* key_values(int64_t layer) { return std::get_if<KeyValueStore>(&layers_[size_t(layer)]); }
  const KeyValueStore* key_values(int64_t layer) const { return std::get_if<KeyValueStore>(&layers_[size_t(layer)]); }
  RecurrentStore* recurrent(int64_t layer) { return std::get_if<RecurrentStore>(&layers_[size_t(layer)]); }

 protected:
  // Lays out the layers and returns the bytes that they take.
  Result<uint64_t> lay_out(const StateDescription& description);
  // `memory`: so many bytes, zeroed, aligned to 64.
  void place(uint8_t* memory);

 private:
  Status check(int64_t sequence, int64_t length) const;
  Status can_cut(int64_t sequence, int64_t length) const;
  // Calls f(bytes, count) for all that holds the first `length` positions of a sequence.
  template <class F>
  void for_each_range(int64_t sequence, int64_t length, F&& f) const;

  StateDescription description_;
  std::vector<std::variant<KeyValueStore, RecurrentStore>> layers_;
  std::vector<uint64_t> offsets_;  // of the layers
  uint64_t bytes_ = 0;
};

}  // namespace soffit
