// Weights of the Metal backend: the file's bytes, in place where the device reaches them, else a copy.
#pragma once

#include "metal/device.hpp"
#include "soffit/backend.hpp"

namespace soffit::metal {

class MetalWeights final : public Weights {
 public:
  struct Part {
    MatrixDescription matrix;
    std::unique_ptr<DeviceBuffer> buffer;
    uint64_t row_bytes = 0, bytes = 0;
    uint64_t row_stride = 0, expert_stride = 0;  // bytes; gaps only in memory used in place
    std::shared_ptr<const void> owner;
    uint64_t written = 0;
    std::string layout;
  };

  static Result<std::unique_ptr<Weights>> create(Device& device, std::span<const MatrixDescription> parts);
  std::span<const MatrixDescription> parts() const override { return descriptions_; }
  Status write(size_t part, uint64_t offset, std::span<const std::byte> bytes) override;
  using Weights::adopt;
  Status adopt(size_t part, const MatrixSource& source, std::shared_ptr<const void> owner) override;
  Status finish() override;
  Status read(size_t part, uint64_t offset, std::span<std::byte> to) const override;
  std::string_view layout_name(size_t part) const override {
    return part < parts_.size() ? parts_[part].layout : std::string_view();
  }
  uint64_t file_bytes() const override;
  uint64_t layout_bytes() const override { return file_bytes(); }

  const Part& part(size_t i) const { return parts_[i]; }
  size_t part_count() const { return parts_.size(); }
  bool finished() const { return finished_; }

 private:
  explicit MetalWeights(Device& device) : device_(device) {}
  Status check_range(size_t part, uint64_t offset, uint64_t count) const;
  Status allocate(Part& part);

  Device& device_;
  std::vector<MatrixDescription> descriptions_;
  std::vector<Part> parts_;
  bool finished_ = false;
};

}  // namespace soffit::metal
