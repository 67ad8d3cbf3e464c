// What soffit compare takes from the output of a command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/child.hpp"
#include "measure/code.hpp"
#include "measure/comparison.hpp"
#include "table.hpp"

namespace soffit::tool {

struct CommandReport {
  measure::Sample sample;
  Json provenance;  // null where there is none
  std::optional<measure::ReportedCode> code;
  std::optional<std::vector<int64_t>> tokens;
  std::vector<double> top_two_gaps;  // of each token's logits; empty where there are none
  std::vector<std::string> warnings;
};

// The figure is tokens_per_second, else 1 ÷ seconds, of the JSON object or of each object of a JSON array; else, and
// where the output is no JSON, 1 ÷ wall time. An error when rows come from different code, or one has wrong results.
Result<CommandReport> read_report(const measure::ChildResult& run);

}  // namespace soffit::tool
