// The checker's suite on every instruction set of this machine, and its short form with every array and all weights
// between pages that fault.
#include "check/suite.hpp"

#include <gtest/gtest.h>

#include <map>

#include "backends.hpp"
#include "guarded.hpp"

namespace soffit::test {
namespace {

using checker::Report;
using checker::SuiteOptions;
using checker::Verdict;

std::string describe(const Report& r, const Backend& backend) {
  const auto& s = r.subject;
  return std::string(to_string(s.operation)) + " " + std::string(info(s.format).name) + " on " +
         std::string(backend.isa()) + ", " + std::to_string(s.rows) + " x " + std::to_string(s.cols) + ", n " +
         std::to_string(s.n) + " (" + s.variant + "), kernel " + r.outcome.kernel + ": " + r.outcome.reason;
}

class Suite : public testing::TestWithParam<Format> {
 protected:
  Suite() {
    for (const Arm& arm : usable_arms()) {
      backends_.push_back(make_backend(arm));
      list_.push_back(backends_.back().get());
    }
  }
  // Reports at most a few faults of each instruction set; expects no skip.
  checker::Usage run(const SuiteOptions& options, checker::Placement& placement) {
    checker::Usage usage;
    std::map<size_t, int> faults;
    int64_t cases = 0;
    checker::run_suite(list_, options, placement, [&](const Report& r) {
      ++cases;
      usage.add(r);
      if (r.outcome.verdict != Verdict::passed && ++faults[r.backend] <= 3)
        ADD_FAILURE() << describe(r, *list_[r.backend]);
      return true;
    });
    EXPECT_GT(cases, 0);
    for (const auto& [backend, count] : faults)
      if (count > 3) ADD_FAILURE() << count << " cases failed on " << list_[backend]->isa();
    return usage;
  }
  // The figures of the run, for its log.
  void print(const checker::Usage& usage) const {
    for (const auto& [key, largest] : usage.largest())
      std::printf("%-18s %-8s %-8s %-8s error / bound %.3f\n", to_string(key.operation),
                  std::string(info(key.format).name).c_str(), std::string(list_[key.backend]->isa()).c_str(),
                  usable_arms()[key.backend].exact ? "exact" : "", largest);
  }

  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<Backend*> list_;
};

TEST_P(Suite, ResultsLieWithinBoundsThatAreUsed) {
  SuiteOptions options;
  options.formats = {GetParam()};
  checker::Placement placement;
  const auto usage = run(options, placement);
  print(usage);
  for (const auto& key : usage.empty_bounds())
    ADD_FAILURE() << to_string(key.operation) << " on " << list_[key.backend]->isa() << ": no more than "
                  << usage.largest().at(key) << " of the bound is ever used";
  for (const auto& [key, largest] : usage.largest())
    if (key.operation == OperationKind::get_rows) {
      EXPECT_EQ(largest, 0) << "get_rows is exact";
    }
}

TEST_P(Suite, NothingIsTouchedInFrontOfArraysAndWeights) {
  SuiteOptions options;
  options.formats = {GetParam()};
  options.quick = true;
  GuardedPlacement placement(Against::front);
  run(options, placement);
}

TEST_P(Suite, NothingIsTouchedBehindArraysAndWeights) {
  SuiteOptions options;
  options.formats = {GetParam()};
  options.quick = true;
  GuardedPlacement placement(Against::back);
  run(options, placement);
}

TEST_P(Suite, WeightsWrittenInOddPieces) {
  SuiteOptions options;
  options.formats = {GetParam()};
  options.quick = true;
  options.seed = 100;
  PiecesPlacement placement;
  run(options, placement);
}

INSTANTIATE_TEST_SUITE_P(Formats, Suite, testing::ValuesIn(all_kernel_formats()),
                         [](const auto& p) { return std::string(soffit::info(p.param).name); });

class AroundSuite : public Suite {
 protected:
  static SuiteOptions options(bool quick) {
    SuiteOptions options;
    options.quick = quick;
    for (OperationKind kind : checker::checked_operations())
      if (kind > OperationKind::get_rows) options.operations.push_back(kind);
    return options;
  }
};
TEST_P(AroundSuite, ResultsLieWithinBounds) {
  checker::Placement placement;
  print(run(options(false), placement));
}
TEST_P(AroundSuite, NothingIsTouchedOutsideArrays) {
  for (Against side : {Against::front, Against::back}) {
    GuardedPlacement guarded(side);
    run(options(true), guarded);
  }
}
INSTANTIATE_TEST_SUITE_P(Cpu, AroundSuite, testing::Values(Format::f32),
                         [](const auto&) { return std::string("all"); });

}  // namespace
}  // namespace soffit::test
