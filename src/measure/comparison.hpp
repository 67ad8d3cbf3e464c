// Arms measured in turn, and how much faster one is than another. Only samples of the same round are divided by each
// other: the machine's speed changes from minute to minute, and both see the same minute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "soffit/status.hpp"

namespace soffit::measure {

// Where the figures of a sample are from, larger always being faster.
enum class FigureKind { tokens_per_second, per_second, per_wall_second };
std::string_view to_string(FigureKind kind);

struct Row {
  std::string label;  // "q4_k, 4096 × 4096, n = 1"; empty where there is only one
  double figure = 0;
};
struct Sample {
  FigureKind kind = FigureKind::per_wall_second;
  std::vector<Row> rows;
};

struct Spread {
  double median = 0, low = 0, high = 0;
};

class Comparison {
 public:
  explicit Comparison(std::vector<std::string> arms) : names_(std::move(arms)), samples_(names_.size()) {}

  // Every arm comes first equally often: arm (round + i) mod arms is the i-th of a round.
  std::vector<size_t> order(int round) const;

  // An error when it cannot be compared with what was added before: other kinds of figures, no row of the same label,
  // a figure that is no positive number.
  Status add(size_t arm, Sample sample);

  // The labels of the rows that all samples have, in order; and those that only some have.
  std::vector<std::string> common_rows() const;
  std::vector<std::string> other_rows() const;

  // Median and 10th and 90th percentile of an arm. Without a label: of the geometric mean of the common rows.
  Spread figure(size_t arm, const std::optional<std::string>& label = {}) const;
  // Second ÷ first: median of the rounds' ratios, and its 95 % interval.
  Spread ratio(size_t first, size_t second, const std::optional<std::string>& label = {}) const;

 private:
  std::vector<double> figures(size_t arm, const std::optional<std::string>& label) const;

  std::vector<std::string> names_;
  std::vector<std::vector<Sample>> samples_;
};

// Where two sequences first differ.
struct TokenDifference {
  size_t index = 0;
  std::optional<int64_t> first, second;  // nothing where a sequence has ended
};
std::optional<TokenDifference> first_difference(std::span<const int64_t> first, std::span<const int64_t> second);

}  // namespace soffit::measure
