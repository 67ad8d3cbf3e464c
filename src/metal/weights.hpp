// Weights of the Metal backend: the file's bytes, in place where the device reaches them, else a copy.
#pragma once

#include "metal/device.hpp"
#include "ops/part_weights.hpp"

namespace soffit::metal {

struct MetalWeightsPart : WeightsPart {
  std::unique_ptr<DeviceBuffer> buffer;
};

class MetalWeights final : public PartWeights<MetalWeightsPart> {
 public:
  static Result<std::unique_ptr<Weights>> create(Device& device, std::span<const MatrixDescription> parts);
  Status write(size_t part, uint64_t offset, std::span<const std::byte> bytes) override;
  using Weights::adopt;
  Status adopt(size_t part, const MatrixSource& source, std::shared_ptr<const void> owner) override;
  void copy_row(const Part& part, int64_t expert, int64_t row, uint8_t* to) const override;

 private:
  explicit MetalWeights(Device& device) : device_(device) {}
  Status allocate(Part& part);

  Device& device_;
};

}  // namespace soffit::metal
