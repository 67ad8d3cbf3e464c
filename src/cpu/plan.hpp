// A plan on the CPU: steps that every member of the team walks through together, with a barrier only before a step that
// touches what an earlier one since the last barrier wrote, or writes what one read.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "cpu/backend.hpp"
#include "soffit/operation.hpp"

namespace soffit::cpu {

class CpuPlan;

// What a step gets to run with.
struct Member {
  CpuPlan& plan;
  const VectorKernels& kernels;
  int index, count;
  uint8_t* scratch;            // of this member alone, 64-byte aligned, as large as the step asked for
  std::atomic<int64_t>& next;  // shared by the members of this step, 0 at its start: for handing out work

  // This member's contiguous share of [0, total).
  std::pair<int64_t, int64_t> share(int64_t total) const {
    return {total * index / count, total * (index + 1) / count};
  }
};

// Rows of an operation that are independent of each other, shared out evenly.
template <class F>
void for_rows(const Member& m, int64_t rows, F&& f) {
  const auto [begin, end] = m.share(rows);
  for (int64_t i = begin; i < end; ++i) f(i);
}

struct Step {
  OperationKind kind{};
  uint64_t scratch = 0;  // bytes a member
  std::function<void(Member&)> run;
};

// Translates operations; an error when a shape does not agree or nothing can do it. `threads` is the size of the team.
struct StepContext {
  const VectorKernels& kernels;
  bool exact = false;
  int threads = 1;
};
Result<Step> make_step(const StepContext& context, const Operation& operation);
Result<Step> make_linear(const StepContext& context, const Linear& o);
Result<Step> make_linear_id(const StepContext& context, const LinearId& o);
Result<Step> make_get_rows(const StepContext& context, const GetRows& o);
Result<Step> make_prepare(const StepContext& context, const Prepare& o);
Result<Step> make_append_key_value(const StepContext& context, const AppendKeyValue& o);
Result<Step> make_attention(const StepContext& context, const Attention& o);
Result<Step> make_short_convolution(const ShortConvolution& o);
Result<Step> make_gated_delta_rule(const GatedDeltaRule& o);

class CpuPlan final : public Plan {
 public:
  static Result<std::unique_ptr<Plan>> create(CpuBackend& backend, std::span<const Operation> operations,
                                              const PlanOptions& options);
  Status run() override;
  PlanStatistics statistics() const override { return statistics_; }
  std::span<const StepTime> times() const override { return times_; }

  // Keeps the first fault of a run; the other members go on, so that nobody waits for ever.
  void fail(Error error);

 private:
  explicit CpuPlan(CpuBackend& backend) : backend_(backend) {}

  CpuBackend& backend_;
  std::vector<Step> steps_;
  std::vector<bool> barrier_before_;
  std::vector<std::atomic<int64_t>> next_;
  std::vector<Memory> scratch_;  // one a member
  PlanStatistics statistics_;
  bool timed_ = false;
  std::vector<StepTime> times_;
  std::mutex mutex_;
  std::optional<Error> fault_;
};

}  // namespace soffit::cpu
