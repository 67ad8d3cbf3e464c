// A team of threads: what it shares out, and that barriers hold.
#include "core/threads.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace soffit::test {
namespace {

TEST(Team, EveryMemberRunsOnceARun) {
  for (int threads : {1, 2, 3, 5, 8}) {
    Team team(*own_threads(threads));
    std::vector<int> runs(size_t(threads), 0);
    for (int i = 0; i < 200; ++i) team.run([&](int member) { ++runs[size_t(member)]; });
    EXPECT_EQ(runs, std::vector<int>(size_t(threads), 200));
  }
}

// No member passes a barrier before all have written what the others read behind it.
TEST(Team, BarriersSeparateWhatIsWrittenFromWhatIsRead) {
  for (int threads : {2, 3, 5}) {
    Team team(*own_threads(threads));
    std::vector<int> value(size_t(threads), 0);
    std::atomic<int> wrong{0};
    team.run([&](int member) {
      for (int round = 1; round <= 300; ++round) {
        value[size_t(member)] = round;
        team.barrier();
        for (int v : value) wrong += v != round;
        team.barrier();
      }
    });
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Team, ManyTeamsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    Team team(*own_threads(3));
    if (i % 2) team.run([](int) {});
  }
}

TEST(Team, CountsThatCannotBeAreErrors) {
  EXPECT_FALSE(own_threads(0));
  EXPECT_FALSE(own_threads(-1));
  EXPECT_FALSE(own_threads(5000));
}

}  // namespace
}  // namespace soffit::test
