// The order of a plan's operations: which of them must wait for earlier ones, and whether those that read prepared
// activations mean what was prepared. What every backend's plan() goes through.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "soffit/operation.hpp"

namespace soffit {

// Operations that a plan takes one after the other. Between two barriers they may run in any order, or at once.
class Schedule {
 public:
  // Checks the next operation, and says whether a barrier has to stand before it: it touches what an earlier one since
  // the last barrier wrote, or writes what one read.
  Result<bool> next(const Operation& operation);

 private:
  Status follow_activations(const Operation& operation);
  void prepared(const Activations* activations, int64_t rows);
  Status read(const Activations* activations, int64_t rows) const;

  std::vector<Access> since_barrier_;
  // Blocks of activations are laid out for the rows of the batch, so who reads them must mean as many as who prepared
  // them last.
  std::vector<std::pair<const Activations*, int64_t>> rows_;
};

// Whether two accesses can touch a common byte. Views of one buffer and stride that take different columns do not.
bool overlap(const Access& a, const Access& b);

}  // namespace soffit
