#include "measure/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "core/concat.hpp"

namespace soffit::measure {
namespace {

const Row* find(const Sample& sample, const std::string& label) {
  const auto found = std::ranges::find(sample.rows, label, &Row::label);
  return found == sample.rows.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(FigureKind kind) {
  switch (kind) {
    case FigureKind::tokens_per_second:
      return "tokens/s";
    case FigureKind::per_second:
      return "1/seconds";
    case FigureKind::per_wall_second:
      break;
  }
  return "1/wall seconds";
}

std::vector<size_t> Comparison::order(int round) const {
  std::vector<size_t> arms;
  for (size_t i = 0; i < names_.size(); ++i) arms.push_back((size_t(round) + i) % names_.size());
  return arms;
}

Status Comparison::add(size_t arm, Sample sample) {
  for (const Row& row : sample.rows) {
    if (!(row.figure > 0) || !std::isfinite(row.figure))
      return Error{Code::io,
                   concat(names_[arm], row.label.empty() ? "" : ": ", row.label, ": its speed is no positive number")};
  }
  for (size_t other = 0; other < samples_.size(); ++other) {
    if (samples_[other].empty()) continue;
    const FigureKind kind = samples_[other].front().kind;
    if (kind != sample.kind)
      return Error{Code::io, concat(names_[arm], " gives ", to_string(sample.kind), ", ", names_[other], " gave ",
                                    to_string(kind), ": they cannot be compared")};
  }
  samples_[arm].push_back(std::move(sample));
  if (common_rows().empty())
    return Error{Code::io, concat(names_[arm], ": none of its rows is in all the other arms' reports too")};
  return {};
}

std::vector<std::string> Comparison::common_rows() const {
  std::vector<std::string> labels;
  const Sample* first = nullptr;
  for (const auto& samples : samples_)
    if (!first && !samples.empty()) first = &samples.front();
  if (!first) return labels;
  for (const Row& row : first->rows) {
    const bool everywhere = std::ranges::all_of(samples_, [&](const std::vector<Sample>& samples) {
      return std::ranges::all_of(samples, [&](const Sample& sample) { return find(sample, row.label) != nullptr; });
    });
    if (everywhere) labels.push_back(row.label);
  }
  return labels;
}

std::vector<std::string> Comparison::other_rows() const {
  const auto common = common_rows();
  std::vector<std::string> labels;
  for (const auto& samples : samples_)
    for (const Sample& sample : samples)
      for (const Row& row : sample.rows)
        if (std::ranges::find(common, row.label) == common.end() &&
            std::ranges::find(labels, row.label) == labels.end())
          labels.push_back(row.label);
  return labels;
}

std::vector<double> Comparison::figures(size_t arm, const std::optional<std::string>& label) const {
  const auto labels = label ? std::vector{*label} : common_rows();
  std::vector<double> list;
  for (const Sample& sample : samples_[arm]) {
    if (labels.size() == 1) {
      const Row* row = find(sample, labels.front());
      list.push_back(row ? row->figure : std::nan(""));
      continue;
    }
    double logarithms = 0;
    for (const std::string& name : labels) {
      const Row* row = find(sample, name);
      logarithms += row ? std::log(row->figure) : std::nan("");
    }
    list.push_back(std::exp(logarithms / double(labels.size())));
  }
  return list;
}

Spread Comparison::figure(size_t arm, const std::optional<std::string>& label) const {
  const auto list = figures(arm, label);
  return {median(list), percentile(list, 0.1), percentile(list, 0.9)};
}

Spread Comparison::ratio(size_t first, size_t second, const std::optional<std::string>& label) const {
  const auto below = figures(first, label), above = figures(second, label);
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(below.size(), above.size()); ++i) ratios.push_back(above[i] / below[i]);
  const Interval interval = median_interval(ratios);
  return {median(ratios), interval.low, interval.high};
}

std::optional<TokenDifference> first_difference(std::span<const int64_t> first, std::span<const int64_t> second) {
  const size_t common = std::min(first.size(), second.size());
  size_t i = 0;
  while (i < common && first[i] == second[i]) ++i;
  if (i == first.size() && i == second.size()) return std::nullopt;
  const auto at = [i](std::span<const int64_t> tokens) {
    return i < tokens.size() ? std::optional(tokens[i]) : std::nullopt;
  };
  return TokenDifference{i, at(first), at(second)};
}

}  // namespace soffit::measure
