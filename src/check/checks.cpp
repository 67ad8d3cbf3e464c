#include "check/checks.hpp"

#include "check/random.hpp"

namespace soffit::checker {

void add_check(std::vector<Check>& checks, Subject subject, std::function<Result<Outcome>(Backend&, Placement&)> run) {
  checks.emplace_back();
  checks.back().subject = std::move(subject);
  checks.back().run = std::move(run);
}

std::vector<int64_t> odd_lengths(bool quick) {
  if (quick) return {1, 15, 16, 17, 33, 70, 1057};
  std::vector<int64_t> lengths;
  for (int64_t i = 1; i <= 70; ++i) lengths.push_back(i);
  for (int64_t i = 1023; i <= 1057; ++i) lengths.push_back(i);
  return lengths;
}

std::vector<float> normal_array(uint64_t seed, int64_t count, float size) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = size * random.normal();
  return values;
}

Result<Outcome> run_one(Backend& backend, const Operation& operation, const ResultArray& y,
                        std::span<const Value> expected) {
  const OperationKind kind = operation.kind();
  const Support support = backend.supports(kind, Format::f32, {y.view().rows, y.view().cols, 1, 1});
  if (!support) return Outcome::skip(support.reason);
  const Operation operations[] = {operation};
  SOFFIT_TRY(const auto plan, backend.plan(operations, {}));
  SOFFIT_CHECK(plan->run());
  Outcome outcome = y.compare(expected);
  outcome.kernel = support.kernel;
  return outcome;
}

}  // namespace soffit::checker
