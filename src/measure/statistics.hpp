// Figures from samples of unknown distribution, by order statistics alone: timings have long tails, so means and
// standard deviations say little about them.
#pragma once

#include <span>
#include <vector>

namespace soffit::measure {

// The value below which a fraction p of the samples lies, between samples linearly: position p * (n - 1) of the sorted
// ones (type 7 of Hyndman and Fan 1996, as in numpy). NaN for no samples.
double percentile(std::span<const double> samples, double p);
double median(std::span<const double> samples);

struct Interval {
  double low = 0, high = 0;
};
// A 95 % confidence interval of the median that assumes no distribution: the samples of ranks k and n + 1 - k, where k
// is the largest with P(Binomial(n, 1/2) < k) <= 2.5 % (David and Nagaraja, Order Statistics, 2003, section 7.1). Fewer
// than 6 samples cannot give 95 %: then smallest and largest.
Interval median_interval(std::span<const double> samples);

}  // namespace soffit::measure
