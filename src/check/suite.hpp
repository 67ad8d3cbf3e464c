// The suite: every case of every format on every backend given, and how much of their bounds the results used.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "check/outcome.hpp"
#include "check/placement.hpp"

namespace soffit::checker {

struct SuiteOptions {
  std::vector<OperationKind> operations;  // empty: all
  std::vector<Format> formats;            // empty: all
  bool quick = false;
  bool file_layout_only = false;
  uint64_t seed = 0;  // another one gives other weights and activations
};

// One case on one backend.
struct Report {
  size_t backend = 0;  // index in the list given
  Subject subject;
  Outcome outcome;
};

// Runs the cases in a fixed order. `visit` returns false to stop.
void run_suite(std::span<Backend* const> backends, const SuiteOptions& options, Placement& placement,
               const std::function<bool(const Report&)>& visit);
// The operations that the suite has cases for.
std::span<const OperationKind> checked_operations();

// The largest error / bound by operation, format and backend. An error bound of a product that is never used by more
// than kEmpty over the whole suite says nothing, and counts as a fault.
class Usage {
 public:
  static constexpr double kEmpty = 0.02;
  struct Key {
    OperationKind operation;
    Format format;
    size_t backend;
    auto operator<=>(const Key&) const = default;
  };
  void add(const Report& report);
  const std::map<Key, double>& largest() const { return largest_; }
  std::vector<Key> empty_bounds() const;

 private:
  std::map<Key, double> largest_;
};

}  // namespace soffit::checker
