// What the tests of kernels share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "metal/linear_problem.hpp"

namespace soffit::metal {

inline std::string name_of(const Variant& v) { return std::string(v.kernel); }

inline std::vector<Variant> variants_of(OperationKind operation, std::initializer_list<Division> divisions) {
  std::vector<Variant> chosen;
  for (const Variant& v : variants()) {
    if (v.operation == operation && std::ranges::find(divisions, v.division) != divisions.end()) chosen.push_back(v);
  }
  return chosen;
}

inline LinearProblem random_problem(Format format, const LinearShape& shape, DataType type, uint64_t seed,
                                    checker::Blocks blocks = checker::Blocks::random) {
  auto problem = LinearProblem::random(format, shape, type, seed, blocks);
  EXPECT_TRUE(problem) << problem.error().message;
  return std::move(*problem);
}

inline void expect_right(const WorstResult& worst) {
  EXPECT_TRUE(worst.right()) << "row " << worst.row << ", vector " << worst.vector << ": " << worst.result
                             << ", expected " << worst.exact << ", error / bound = " << worst.error_over_bound;
}
inline void expect_right(const LinearProblem& problem, Terms terms) { expect_right(problem.worst_result(terms)); }

// Runs without a fault.
inline void expect_clean(const Result<lanes::Outcome>& outcome) {
  ASSERT_TRUE(outcome) << outcome.error().message;
  for (const lanes::Fault& fault : outcome->faults) ADD_FAILURE() << to_text(fault);
}

}  // namespace soffit::metal
