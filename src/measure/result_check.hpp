// Whether the results of a workload are right: against the oracle in double precision and its bounds (src/check).
#pragma once

#include <map>
#include <vector>

#include "check/bounds.hpp"
#include "measure/workload.hpp"

namespace soffit::measure {

// The exact result of each variant is computed once, for some rows of results where there are many; whatever else has
// the same inputs must then have the same results bit for bit.
class ResultCheck {
 public:
  ResultCheck(const Workload& workload, const checker::Arithmetic& arithmetic);
  // Of an operation of the leg that ran last: |error| / bound, the largest; above 1 or NaN is a fault.
  Result<double> error_over_bound(size_t leg, int64_t operation);

 private:
  double against_oracle(int64_t variant, std::span<const float> y) const;
  double rows_against_oracle(int64_t variant, std::span<const float> y) const;

  const Workload& workload_;
  checker::Arithmetic arithmetic_;
  std::vector<int64_t> sample_;  // rows of results that are compared with the oracle
  struct Known {
    std::vector<float> results;
    double error_over_bound;
  };
  std::map<int64_t, Known> known_;  // by variant
};

}  // namespace soffit::measure
