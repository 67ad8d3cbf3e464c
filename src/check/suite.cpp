#include "check/suite.hpp"

#include <algorithm>
#include <array>

#include "check/cases.hpp"
#include "check/checks.hpp"

namespace soffit::checker {
namespace {

constexpr std::array kOfFormats = {OperationKind::linear, OperationKind::linear_id, OperationKind::get_rows};

struct Around {
  OperationKind operation;
  std::vector<Check> (*checks)(bool quick);
};
constexpr Around kAround[] = {{OperationKind::rms_norm, norm_checks},
                              {OperationKind::rotate, rotate_checks},
                              {OperationKind::attention, attention_checks},
                              {OperationKind::gated_activation, gated_activation_checks},
                              {OperationKind::route, route_checks},
                              {OperationKind::combine, combine_checks},
                              {OperationKind::gather, gather_checks},
                              {OperationKind::add, add_checks},
                              {OperationKind::scale, scale_checks},
                              {OperationKind::soft_cap, soft_cap_checks},
                              {OperationKind::all_reduce, all_reduce_checks},
                              {OperationKind::short_convolution, short_convolution_checks},
                              {OperationKind::gated_delta_rule, gated_delta_rule_checks}};

class Runner {
 public:
  Runner(std::span<Backend* const> backends, const SuiteOptions& options, Placement& placement,
         const std::function<bool(const Report&)>& visit)
      : backends_(backends), options_(options), placement_(placement), visit_(visit) {}

  // False when the visitor wants no more.
  template <class Problem, class Case>
  bool run(const std::vector<Case>& cases) {
    for (Case c : cases) {
      if (options_.file_layout_only && c.layout != Layout::file) continue;
      c.seed += options_.seed;
      Problem problem(std::move(c));
      for (size_t i = 0; i < backends_.size(); ++i)
        if (!visit_({i, problem.subject(), problem.run(*backends_[i], placement_)})) return false;
    }
    return true;
  }

  bool run(const std::vector<Check>& checks) {
    for (const Check& check : checks)
      for (size_t i = 0; i < backends_.size(); ++i) {
        auto outcome = check.run(*backends_[i], placement_);
        if (!outcome) outcome = Outcome::failure(outcome.error().message);
        if (!visit_({i, check.subject, *outcome})) return false;
      }
    return true;
  }

 private:
  std::span<Backend* const> backends_;
  const SuiteOptions& options_;
  Placement& placement_;
  const std::function<bool(const Report&)>& visit_;
};

bool run_operation(Runner& runner, OperationKind operation, Format format, bool quick) {
  switch (operation) {
    case OperationKind::linear:
      return runner.run<LinearProblem>(linear_cases(format, quick)) &&
             runner.run<ShardProblem>(shard_cases(format, false, quick));
    case OperationKind::linear_id:
      return runner.run<LinearProblem>(linear_id_cases(format, quick)) &&
             runner.run<ShardProblem>(shard_cases(format, true, quick));
    case OperationKind::get_rows:
      return runner.run<RowsProblem>(rows_cases(format, quick));
    default:
      return true;
  }
}

}  // namespace

std::span<const OperationKind> checked_operations() {
  static const auto kAll = [] {
    std::vector<OperationKind> all(kOfFormats.begin(), kOfFormats.end());
    for (const Around& a : kAround) all.push_back(a.operation);
    return all;
  }();
  return kAll;
}

void run_suite(std::span<Backend* const> backends, const SuiteOptions& options, Placement& placement,
               const std::function<bool(const Report&)>& visit) {
  const auto wanted = [](const auto& list, auto value) { return list.empty() || std::ranges::count(list, value); };
  Runner runner(backends, options, placement, visit);
  for (const FormatInfo& f : all_formats()) {
    if (!f.supported || !wanted(options.formats, Format(f.id))) continue;
    for (OperationKind operation : kOfFormats)
      if (wanted(options.operations, operation) && !run_operation(runner, operation, Format(f.id), options.quick))
        return;
  }
  // These have no weights: they are left out where only formats are asked for.
  if (options.operations.empty() && !options.formats.empty()) return;
  for (const Around& a : kAround)
    if (wanted(options.operations, a.operation) && !runner.run(a.checks(options.quick))) return;
}

void Usage::add(const Report& report) {
  if (report.outcome.verdict == Verdict::skipped) return;
  double& largest = largest_[{report.subject.operation, report.subject.format, report.backend}];
  largest = std::max(largest, report.outcome.error_over_bound);
}

std::vector<Usage::Key> Usage::empty_bounds() const {
  std::vector<Key> empty;
  for (const auto& [key, largest] : largest_)
    if ((key.operation == OperationKind::linear || key.operation == OperationKind::linear_id) && !(largest > kEmpty))
      empty.push_back(key);
  return empty;
}

}  // namespace soffit::checker
