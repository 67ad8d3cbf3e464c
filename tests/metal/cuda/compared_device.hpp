// Two devices as one: every dispatch runs on both, from the same bytes, and what they leave is compared bit by bit.
#pragma once

#include <map>
#include <mutex>

#include "metal/device.hpp"

namespace soffit::metal {

struct Comparison {
  uint64_t dispatches = 0, equal = 0;  // of these, with all bytes the same
  uint64_t elements = 0, other = 0;    // of the bindings that differ somewhere; of these, other bits but for NaN
  uint64_t most_steps = 0;             // between two finite results: numbers of the type that lie between
};

class ComparedDevice final : public Device {
 public:
  // Buffers are the second's; both have to take any with data().
  ComparedDevice(std::unique_ptr<Device> first, std::unique_ptr<Device> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  std::string_view isa() const override { return "plain"; }
  int threads() const override { return second_->threads(); }
  Result<std::unique_ptr<DeviceBuffer>> new_buffer(uint64_t bytes) override { return second_->new_buffer(bytes); }
  Result<std::unique_ptr<DeviceBuffer>> wrap(std::span<std::byte> memory) override { return second_->wrap(memory); }
  Result<const Pipeline*> pipeline(const std::string& kernel, const std::vector<FunctionConstant>& constants) override;
  Status run(std::span<const Dispatch> dispatches) override;

  const std::map<std::string, Comparison>& comparisons() const { return comparisons_; }  // by kernel

 private:
  struct Both final : Pipeline {
    std::string kernel;
    const Pipeline *first = nullptr, *second = nullptr;
  };
  Status run(const Dispatch& dispatch);

  const std::unique_ptr<Device> first_, second_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Both>> pipelines_;
  std::map<std::string, Comparison> comparisons_;
};

}  // namespace soffit::metal
