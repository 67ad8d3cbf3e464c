#include "cpu/plan.hpp"

#include <chrono>

#include "ops/schedule.hpp"

namespace soffit::cpu {
Result<std::unique_ptr<Plan>> CpuPlan::create(CpuBackend& backend, std::span<const Operation> operations,
                                              const PlanOptions& options) {
  std::unique_ptr<CpuPlan> plan(new CpuPlan(backend));
  plan->timed_ = options.timed;
  const StepContext context{backend.kernels(), backend.exact(), backend.threads()};
  Schedule schedule;
  uint64_t scratch = 0;
  for (const auto& operation : operations) {
    SOFFIT_TRY(const bool barrier, schedule.next(operation));
    SOFFIT_TRY(Step step, make_step(context, operation));
    step.kind = operation.kind();
    plan->barrier_before_.push_back(barrier);
    plan->statistics_.barriers += barrier;
    scratch = std::max(scratch, step.scratch);
    plan->steps_.push_back(std::move(step));
  }
  for (int i = 0; i < backend.threads(); ++i) {
    SOFFIT_TRY(Memory memory, Memory::allocate(scratch));
    plan->scratch_.push_back(std::move(memory));
  }
  plan->next_ = std::vector<std::atomic<int64_t>>(plan->steps_.size());
  plan->statistics_.operations = int64_t(operations.size());
  plan->statistics_.steps = int64_t(plan->steps_.size());
  plan->statistics_.workspace_bytes = scratch * uint64_t(backend.threads());
  if (plan->timed_)
    for (const auto& s : plan->steps_) plan->times_.push_back({to_string(s.kind), 0});
  return std::unique_ptr<Plan>(std::move(plan));
}

void CpuPlan::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!fault_) fault_ = std::move(error);
}

Status CpuPlan::run() {
  using Clock = std::chrono::steady_clock;
  fault_.reset();
  for (auto& n : next_) n.store(0, std::memory_order_relaxed);
  Team& team = backend_.team();
  team.run([&](int index) {
    auto before = Clock::now();
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (barrier_before_[i]) team.barrier();
      Member member{*this, backend_.kernels(), index, team.size(), scratch_[size_t(index)].data(), next_[i]};
      steps_[i].run(member);
      if (timed_ && index == 0) {
        const auto now = Clock::now();
        times_[i].seconds = std::chrono::duration<double>(now - before).count();
        before = now;
      }
    }
  });
  if (fault_) return *fault_;
  return {};
}

}  // namespace soffit::cpu
