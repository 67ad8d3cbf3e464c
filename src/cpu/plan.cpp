#include "cpu/plan.hpp"

#include <chrono>

namespace soffit::cpu {
namespace {

// Whether two accesses can touch a common byte. Views of one buffer and stride that take different columns do not.
bool overlap(const Access& a, const Access& b) {
  if (a.object != b.object || a.layer != b.layer) return false;
  if (a.view.empty() || b.view.empty()) return true;
  const auto bytes = [](const ArrayView& v) {
    return v.rows == 0 ? 0 : uint64_t(((v.rows - 1) * v.row_stride + v.cols) * size_of(v.type));
  };
  const ArrayView &x = a.view, &y = b.view;
  if (x.offset + bytes(x) <= y.offset || y.offset + bytes(y) <= x.offset) return false;
  const uint64_t stride = uint64_t(x.row_stride * size_of(x.type));
  if (stride && stride == uint64_t(y.row_stride * size_of(y.type))) {
    const uint64_t xs = x.offset % stride, ys = y.offset % stride;
    const uint64_t xe = xs + uint64_t(x.cols * size_of(x.type)), ye = ys + uint64_t(y.cols * size_of(y.type));
    if (xe <= stride && ye <= stride && (xe <= ys || ye <= xs)) return false;
  }
  return true;
}

bool conflict(const std::vector<Access>& earlier, const std::vector<Access>& later) {
  for (const auto& a : earlier)
    for (const auto& b : later)
      if ((a.write || b.write) && overlap(a, b)) return true;
  return false;
}

// Blocks of activations are laid out for the rows of the batch, so who reads them must mean as many as who prepared
// them.
struct PreparedRows {
  std::vector<std::pair<const Activations*, int64_t>> last;

  void prepared(const Activations* a, int64_t rows) {
    if (!a) return;
    for (auto& [object, n] : last)
      if (object == a) return void(n = rows);
    last.emplace_back(a, rows);
  }
  Status read(const Activations* a, int64_t rows) const {
    for (const auto& [object, n] : last)
      if (object == a && n != rows)
        return invalid_argument("activations prepared for " + std::to_string(n) + " rows are read as " +
                                std::to_string(rows));
    return {};
  }
  Status visit(const Operation& operation) {
    if (const auto* o = std::get_if<Linear>(&operation.value)) return read(o->x, o->y.rows);
    if (const auto* o = std::get_if<LinearId>(&operation.value))
      return read(o->x, o->per_slot ? o->y.rows : o->ids.rows);
    if (const auto* o = std::get_if<Prepare>(&operation.value)) prepared(o->to, o->x.rows);
    if (const auto* o = std::get_if<RmsNorm>(&operation.value)) prepared(o->prepared, o->x.rows);
    if (const auto* o = std::get_if<GatedActivation>(&operation.value)) prepared(o->prepared, o->gate.rows);
    return {};
  }
};

}  // namespace

Result<std::unique_ptr<Plan>> CpuPlan::create(CpuBackend& backend, std::span<const Operation> operations,
                                              const PlanOptions& options) {
  std::unique_ptr<CpuPlan> plan(new CpuPlan(backend));
  plan->timed_ = options.timed;
  const StepContext context{backend.kernels(), backend.exact(), backend.threads()};
  std::vector<Access> since_barrier;
  PreparedRows rows;
  uint64_t scratch = 0;
  for (const auto& operation : operations) {
    SOFFIT_CHECK(check(operation));
    SOFFIT_CHECK(rows.visit(operation));
    SOFFIT_TRY(Step step, make_step(context, operation));
    step.kind = operation.kind();
    auto accessed = accesses(operation);
    const bool barrier = conflict(since_barrier, accessed);
    if (barrier) since_barrier.clear();
    since_barrier.insert(since_barrier.end(), accessed.begin(), accessed.end());
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
