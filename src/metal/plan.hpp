// A plan of the Metal backend: the dispatches of its operations, in order, and what only a run can find wrong.
#pragma once

#include <functional>

#include "metal/backend.hpp"
#include "soffit/operation.hpp"

namespace soffit::metal {

class MetalPlan final : public Plan {
 public:
  static Result<std::unique_ptr<Plan>> create(MetalBackend& backend, std::span<const Operation> operations,
                                              const PlanOptions& options);
  Status run() override;
  PlanStatistics statistics() const override { return statistics_; }
  std::span<const StepTime> times() const override { return times_; }

 private:
  friend class Recorder;
  explicit MetalPlan(MetalBackend& backend) : backend_(backend) {}

  MetalBackend& backend_;
  std::vector<Dispatch> dispatches_;
  std::vector<std::function<void()>> before_;   // what the host brings up to date
  std::vector<std::function<Status()>> after_;  // what the host checks, in the order of the operations
  std::vector<std::unique_ptr<DeviceBuffer>> own_;
  std::unique_ptr<DeviceBuffer> workspace_;
  std::vector<size_t> ends_;  // of each operation's dispatches
  PlanStatistics statistics_;
  std::vector<StepTime> times_;  // empty: not timed
};

}  // namespace soffit::metal
