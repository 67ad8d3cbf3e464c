#include "metal/plan.hpp"

#include <chrono>

#include "metal/recorder.hpp"
#include "ops/schedule.hpp"

namespace soffit::metal {

Result<std::unique_ptr<Plan>> MetalPlan::create(MetalBackend& backend, std::span<const Operation> operations,
                                                const PlanOptions& options) {
  std::unique_ptr<MetalPlan> plan(new MetalPlan(backend));
  SOFFIT_TRY(Recorder recorder, Recorder::create(*plan, backend.device(), operations));
  Schedule schedule;
  for (const auto& operation : operations) {
    SOFFIT_TRY(const bool barrier, schedule.next(operation));
    if (barrier) recorder.barrier();
    if (auto recorded = recorder.record(operation); !recorded)
      return Error{recorded.error().code, concat(to_string(operation.kind()), ": ", recorded.error().message)};
    plan->ends_.push_back(plan->dispatches_.size());
    if (options.timed) plan->times_.push_back({to_string(operation.kind()), 0});
  }
  plan->statistics_.operations = int64_t(operations.size());
  plan->statistics_.steps = int64_t(plan->dispatches_.size());
  return std::unique_ptr<Plan>(std::move(plan));
}

Status MetalPlan::run() {
  for (const auto& f : before_) f();
  const std::span<const Dispatch> all = dispatches_;
  if (times_.empty()) {
    SOFFIT_CHECK(backend_.device().run(all));
  } else {
    // Apart, so that each has its own time.
    for (size_t i = 0, first = 0; i < ends_.size(); first = ends_[i++]) {
      const auto before = std::chrono::steady_clock::now();
      SOFFIT_CHECK(backend_.device().run(all.subspan(first, ends_[i] - first)));
      times_[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    }
  }
  Status fault;
  for (const auto& f : after_) {
    Status status = f();
    if (fault && !status) fault = std::move(status);
  }
  return fault;
}

}  // namespace soffit::metal
