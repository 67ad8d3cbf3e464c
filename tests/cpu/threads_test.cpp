// Threads: what they share out, that they sleep when there is nothing to do, and that limits of the system are kept.
#include "cpu/threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "backends.hpp"
#include "cpu/topology.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

using cpu::Team;

double process_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

TEST(Threads, EveryMemberRunsOnceARun) {
  for (int threads : {1, 2, 3, 5, 8}) {
    Team team(*cpu::own_threads(threads));
    std::vector<int> runs(size_t(threads), 0);
    for (int i = 0; i < 200; ++i) team.run([&](int member) { ++runs[size_t(member)]; });
    EXPECT_EQ(runs, std::vector<int>(size_t(threads), 200));
  }
}

// No member passes a barrier before all have written what the others read behind it.
TEST(Threads, BarriersSeparateWhatIsWrittenFromWhatIsRead) {
  for (int threads : {2, 3, 5}) {
    Team team(*cpu::own_threads(threads));
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

TEST(Threads, ManyTeamsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    Team team(*cpu::own_threads(3));
    if (i % 2) team.run([](int) {});
  }
}

TEST(Threads, CountsThatCannotBeAreErrors) {
  EXPECT_FALSE(cpu::own_threads(0));
  EXPECT_FALSE(cpu::own_threads(-1));
  EXPECT_FALSE(cpu::own_threads(5000));
}

TEST(Threads, AnIdleTeamTakesNoProcessorTime) {
  const auto backend = make_backend({"scalar", false}, 5);
  const Array a = make_array(*backend, 4, 64), b = make_array(*backend, 4, 64);
  const auto plan = make_plan(*backend, {Scale{a.view, 2, b.view}});
  ASSERT_TRUE(plan->run());
  // The short spin at the end of a run is over soon, on a busy machine too.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double before = process_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(process_seconds() - before, 0.03) << "of 0.3 s, with four helpers";
}

// A caller's threads are used, and no others.
class OneByOne final : public Executor {
 public:
  int threads() const override { return 3; }
  void run(void (*call)(void*, int), void* context) override {
    std::vector<std::thread> others;
    for (int i = 1; i < 3; ++i) others.emplace_back(call, context, i);
    call(context, 0);
    for (auto& t : others) t.join();
    ++runs;
  }
  int runs = 0;
};

TEST(Threads, ACallersThreadsAreUsed) {
  const auto executor = std::make_shared<OneByOne>();
  BackendOptions options;
  options.isa = "scalar", options.executor = executor;
  const auto backend = *create_backend("cpu", options);
  EXPECT_EQ(backend->threads(), 3);
  const Matrix matrix = Matrix::random(Format::q4_k, 70, 512, 1);
  const auto x = random_x(2 * 512, 2);
  const auto weights = matrix.upload(*backend);
  const int before = executor->runs;
  const auto y = multiply(*backend, *weights, x);
  EXPECT_GT(executor->runs, before);
  const auto own = make_backend({"scalar", false}, 2);
  EXPECT_EQ(y, multiply(*own, *matrix.upload(*own), x));
  options.threads = 4;
  EXPECT_FALSE(create_backend("cpu", options));
}

// Field case 62: as under taskset.
TEST(Topology, TheAffinityMaskIsKept) {
  const auto all = cpu::allowed_processors();
  ASSERT_FALSE(all.empty());
  EXPECT_LE(cpu::default_threads(), int(all.size()));
  std::thread pinned([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(all.back(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(cpu::allowed_processors(), std::vector<int>{all.back()});
    EXPECT_EQ(cpu::default_threads(), 1);
    EXPECT_EQ((*create_backend("cpu", {}))->threads(), 1);
  });
  pinned.join();
  EXPECT_EQ(cpu::allowed_processors(), all);
}

TEST(Topology, QuotasAreRead) {
  // cgroup v2: cpu.max.
  EXPECT_EQ(cpu::parse_quota_v2("max 100000\n"), 0);
  EXPECT_EQ(cpu::parse_quota_v2("150000 100000\n"), 1.5);
  EXPECT_EQ(cpu::parse_quota_v2("765000 100000"), 7.65);
  for (const char* nothing : {"", "max", "100000", "x y", "100000 0", "-1 100000", "100000 -5"})
    EXPECT_EQ(cpu::parse_quota_v2(nothing), 0) << nothing;
  // cgroup v1: cpu.cfs_quota_us and cpu.cfs_period_us.
  EXPECT_EQ(cpu::parse_quota_v1("250000\n", "100000\n"), 2.5);
  EXPECT_EQ(cpu::parse_quota_v1("-1\n", "100000\n"), 0);
  EXPECT_EQ(cpu::parse_quota_v1("250000", ""), 0);
  EXPECT_EQ(cpu::parse_quota_v1("250000", "0"), 0);
}

TEST(Topology, QuotasAreRoundedDownButNotToNothing) {
  EXPECT_EQ(cpu::threads_within(96, 7.65), 7);
  EXPECT_EQ(cpu::threads_within(4, 7.65), 4);
  EXPECT_EQ(cpu::threads_within(4, 0.5), 1);
  EXPECT_EQ(cpu::threads_within(4, 0), 4);
  EXPECT_EQ(cpu::threads_within(0, 0), 1);
}

}  // namespace
}  // namespace soffit::test
