// What became of a check.
#pragma once

#include <cstdint>
#include <string>

#include "soffit/format.hpp"
#include "soffit/operation.hpp"

namespace soffit::checker {

enum class Verdict : uint8_t { passed, failed, skipped };
inline const char* to_string(Verdict v) {
  return v == Verdict::passed ? "passed" : v == Verdict::failed ? "failed" : "skipped";
}

struct Outcome {
  Verdict verdict = Verdict::failed;
  double error_over_bound = 0;  // the largest of all results; NaN when one is
  std::string kernel;
  std::string reason;  // of a failure or a skip

  static Outcome failure(std::string reason) { return {Verdict::failed, 0, {}, std::move(reason)}; }
  static Outcome skip(std::string reason) { return {Verdict::skipped, 0, {}, std::move(reason)}; }
};

// What was checked, for reports.
struct Subject {
  OperationKind operation = OperationKind::linear;
  Format format = Format::f32;
  int64_t rows = 0, cols = 0, n = 0;
  std::string variant;  // everything else: layout, types, epilogue, values
};

}  // namespace soffit::checker
