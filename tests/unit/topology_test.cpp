// Limits of the system on processors, as its files state them.
#include "core/topology.hpp"

#include <gtest/gtest.h>

namespace soffit::test {
namespace {

TEST(Topology, QuotasAreRead) {
  // cgroup v2: cpu.max.
  EXPECT_EQ(parse_quota_v2("max 100000\n"), 0);
  EXPECT_EQ(parse_quota_v2("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_quota_v2("765000 100000"), 7.65);
  for (const char* nothing : {"", "max", "100000", "x y", "100000 0", "-1 100000", "100000 -5"})
    EXPECT_EQ(parse_quota_v2(nothing), 0) << nothing;
  // cgroup v1: cpu.cfs_quota_us and cpu.cfs_period_us.
  EXPECT_EQ(parse_quota_v1("250000\n", "100000\n"), 2.5);
  EXPECT_EQ(parse_quota_v1("-1\n", "100000\n"), 0);
  EXPECT_EQ(parse_quota_v1("250000", ""), 0);
  EXPECT_EQ(parse_quota_v1("250000", "0"), 0);
}

TEST(Topology, QuotasAreRoundedDownButNotToNothing) {
  EXPECT_EQ(threads_within(96, 7.65), 7);
  EXPECT_EQ(threads_within(4, 7.65), 4);
  EXPECT_EQ(threads_within(4, 0.5), 1);
  EXPECT_EQ(threads_within(4, 0), 4);
  EXPECT_EQ(threads_within(0, 0), 1);
}

}  // namespace
}  // namespace soffit::test
