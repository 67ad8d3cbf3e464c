// Keys and values of all sequences, for each layer, sequence and head: values as `context` rows of head_dim elements,
// keys transposed in blocks of 64 positions (see attention-inl.hpp). The context is rounded up to whole blocks.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/memory.hpp"
#include "soffit/backend.hpp"

namespace soffit::cpu {

class CpuState final : public State {
 public:
  static Result<std::unique_ptr<State>> create(const StateDescription& description);
  const StateDescription& description() const override { return description_; }
  uint64_t size_bytes() const override { return memory_.size(); }
  Status truncate(int64_t sequence, int64_t length) override;
  Status copy(int64_t from, int64_t to, int64_t length) override;
  Result<std::vector<std::byte>> save(int64_t sequence, int64_t length) const override;
  Status load(int64_t sequence, std::span<const std::byte> saved) override;

  struct Place {
    int64_t sequence, position;
  };
  // One head's key and value, head_dim floats each.
  void put(const VectorKernels& kernels, int64_t layer, Place place, int64_t head, const float* key,
           const float* value) const;

  int64_t element_bytes() const { return size_of(description_.type); }
  uint8_t* keys(int64_t layer, int64_t sequence, int64_t head) const { return at(layer, sequence, head, 0); }
  uint8_t* values(int64_t layer, int64_t sequence, int64_t head) const { return at(layer, sequence, head, 1); }

 private:
  uint8_t* at(int64_t layer, int64_t sequence, int64_t head, int which) const;
  Status check(int64_t sequence, int64_t length) const;
  // Calls f(bytes, count) for what holds the first `length` positions of each layer, head, key and value of a sequence:
  // whole blocks.
  template <class F>
  void for_each_range(int64_t sequence, int64_t length, F&& f) const;

  StateDescription description_;
  int64_t rows_ = 0;  // of a head: the context in whole blocks
  std::vector<uint64_t> layer_offset_;
  Memory memory_;
};

}  // namespace soffit::cpu
