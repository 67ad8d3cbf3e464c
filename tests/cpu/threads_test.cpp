// The backend's threads: they sleep when there is nothing to do, a caller's own are used, limits of the system are
// kept.
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "backends.hpp"
#include "core/topology.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

// Threads of this process that sleep, and all of them.
std::pair<int, int> sleeping_threads() {
  int sleeping = 0, all = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    ++all;
    if (const size_t name_end = stat.rfind(')'); name_end != std::string::npos) sleeping += stat[name_end + 2] == 'S';
  }
  return {sleeping, all};
}

TEST(Threads, AnIdleTeamSleeps) {
  const auto backend = make_backend({"scalar", false}, 5);
  const Array a = make_array(*backend, 4, 64), b = make_array(*backend, 4, 64);
  const auto plan = make_plan(*backend, {Scale{a.view, 2, b.view}});
  ASSERT_TRUE(plan->run());
  // The short spin at the end of a run is over at some time; a team that spins for ever never passes.
  std::pair<int, int> threads;
  for (int i = 0; i < 1000; ++i) {
    threads = sleeping_threads();
    if (threads.first == threads.second - 1) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(threads.second, 5);
  EXPECT_EQ(threads.first, 4) << "all but this one";
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

// ollama #17916: as under taskset.
TEST(Topology, TheAffinityMaskIsKept) {
  const auto all = allowed_processors();
  ASSERT_FALSE(all.empty());
  EXPECT_LE(default_threads(), int(all.size()));
  std::thread pinned([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(all.back(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(allowed_processors(), std::vector<int>{all.back()});
    EXPECT_EQ(default_threads(), 1);
    EXPECT_EQ((*create_backend("cpu", {}))->threads(), 1);
  });
  pinned.join();
  EXPECT_EQ(allowed_processors(), all);
}

}  // namespace
}  // namespace soffit::test
