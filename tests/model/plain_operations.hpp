// The objects of the plain backend and the operations on them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/half.hpp"
#include "soffit/operation.hpp"

namespace soffit::test {

class PlainBuffer final : public Buffer {
 public:
  explicit PlainBuffer(uint64_t size) : bytes_(size) {}
  uint64_t size() const override { return bytes_.size(); }
  void* host() override { return bytes_.data(); }
  Status write(uint64_t offset, std::span<const std::byte> from) override;
  Status read(uint64_t offset, std::span<std::byte> to) const override;

 private:
  std::vector<std::byte> bytes_;
};

class PlainWeights final : public Weights {
 public:
  std::vector<MatrixDescription> descriptions;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<uint64_t> sizes;
  std::vector<std::string> names;
  bool adopted = false;

  std::span<const MatrixDescription> parts() const override { return descriptions; }
  Status write(size_t part, uint64_t offset, std::span<const std::byte> from) override;
  Status adopt(size_t part, const MatrixSource& source, std::shared_ptr<const void> owner) override;
  Status finish() override;
  Status read(size_t part, uint64_t offset, std::span<std::byte> to) const override;
  std::string_view layout_name(size_t part) const override { return names[part]; }
  uint64_t file_bytes() const override;
  uint64_t layout_bytes() const override { return file_bytes(); }

  std::vector<float> row(int64_t expert, int64_t row) const;
};

class PlainActivations final : public Activations {
 public:
  PlainActivations(int64_t max_rows, int64_t cols)
      : values(size_t(max_rows * cols)), max_rows_(max_rows), cols_(cols) {}
  int64_t max_rows() const override { return max_rows_; }
  int64_t cols() const override { return cols_; }
  float* row(int64_t i) { return values.data() + i * cols_; }
  const float* row(int64_t i) const { return values.data() + i * cols_; }
  std::vector<float> values;

 private:
  int64_t max_rows_, cols_;
};

class PlainState final : public State {
 public:
  explicit PlainState(const StateDescription& description);
  const StateDescription& description() const override { return description_; }
  uint64_t size_bytes() const override;
  Status clear(int64_t sequence) override { return truncate(sequence, 0); }
  Status truncate(int64_t sequence, int64_t length) override;
  Status copy(int64_t from, int64_t to, int64_t length) override;
  Result<std::vector<std::byte>> save(int64_t sequence, int64_t length) const override;
  Status load(int64_t sequence, std::span<const std::byte> saved) override;

  size_t index(int64_t layer, int64_t sequence, int64_t position) const;
  // As the state's type holds it.
  float rounded(float value) const {
    return description_.type == DataType::f16 ? half_to_float(float_to_half(value)) : value;
  }
  std::vector<std::vector<float>> keys, values;  // of each layer: (sequences, context, heads * head_dim)

 private:
  StateDescription description_;
};

Status compute(const Operation& operation);

}  // namespace soffit::test
