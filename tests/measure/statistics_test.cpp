// Statistics against known answers, and the interval's coverage by simulation.
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace soffit::measure {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  std::shuffle(values.begin(), values.end(), std::mt19937(3));
  return values;
}

TEST(Statistics, PercentilesAsInNumpy) {
  // numpy.percentile([7, 1, 3, 10], [0, 10, 50, 90, 100])
  const std::vector<double> values = {7, 1, 3, 10};
  EXPECT_DOUBLE_EQ(percentile(values, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(values, 0.1), 1.6);
  EXPECT_DOUBLE_EQ(percentile(values, 0.5), 5);
  EXPECT_DOUBLE_EQ(percentile(values, 0.9), 9.1);
  EXPECT_DOUBLE_EQ(percentile(values, 1), 10);
  EXPECT_DOUBLE_EQ(median(one_to(5)), 3);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4}), 4);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Statistics, IntervalRanksOfTheBinomialTable) {
  // Ranks of the 95 % interval of a median, as tabulated for the sign test.
  for (const auto& [n, rank] :
       {std::pair{6, 1}, {8, 1}, {9, 2}, {10, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}}) {
    const Interval interval = median_interval(one_to(n));
    EXPECT_EQ(interval.low, rank) << n;
    EXPECT_EQ(interval.high, n + 1 - rank) << n;
  }
  for (const int n : {1, 2, 5}) {
    EXPECT_EQ(median_interval(one_to(n)).low, 1);
    EXPECT_EQ(median_interval(one_to(n)).high, n);
  }
  EXPECT_TRUE(std::isnan(median_interval({}).low));
  EXPECT_GT(median_interval(one_to(5000)).low, 2400);  // no underflow of 2^-n
}

TEST(Statistics, IntervalCoversTheMedianAsOftenAsItSays) {
  // 20,000 draws; the true coverage of 20 samples' interval is 95.86 %, three standard errors of the count are 0.43 %.
  std::mt19937 random(11);
  std::lognormal_distribution<double> skewed(0, 1.5);  // median 1
  constexpr int kDraws = 20000;
  int covered = 0;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<double> samples(20);
    for (double& s : samples) s = skewed(random);
    const Interval interval = median_interval(samples);
    covered += interval.low <= 1 && 1 <= interval.high;
  }
  EXPECT_NEAR(double(covered) / kDraws, 0.9586, 0.0043);
}

}  // namespace
}  // namespace soffit::measure
