#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace soffit::measure {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

// The largest k >= 1 with P(Binomial(n, 1/2) <= k - 1) <= 2.5 %; 1 where there is none.
size_t interval_rank(size_t n) {
  const double log_half_power = -double(n) * std::log(2.0);
  double log_choose = 0, below = 0;
  size_t k = 0;
  for (; k < n / 2; ++k) {
    below += std::exp(log_choose + log_half_power);
    if (below > 0.025) break;
    log_choose += std::log(double(n - k)) - std::log(double(k + 1));
  }
  return std::max<size_t>(k, 1);
}

}  // namespace

double percentile(std::span<const double> samples, double p) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto values = sorted(samples);
  const double position = std::clamp(p, 0.0, 1.0) * double(values.size() - 1);
  const auto below = size_t(position);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - double(below)) * (values[above] - values[below]);
}

double median(std::span<const double> samples) { return percentile(samples, 0.5); }

Interval median_interval(std::span<const double> samples) {
  if (samples.empty()) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  const auto values = sorted(samples);
  const size_t rank = interval_rank(values.size());
  return {values[rank - 1], values[values.size() - rank]};
}

}  // namespace soffit::measure
