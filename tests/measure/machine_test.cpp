// Topology: what hwloc says against what the kernel's files say, and that only what may be used is counted.
#include "machine.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "core/topology.hpp"

namespace soffit::test {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

TEST(Machine, CachesAreThoseOfTheKernelsFiles) {
  const auto machine = tool::read_machine();
  ASSERT_TRUE(machine) << machine.error().message;
  std::map<std::pair<int, std::string>, std::pair<uint64_t, int>> expected, found;
  const fs::path directory = "/sys/devices/system/cpu/cpu" + std::to_string(allowed_processors().front()) + "/cache";
  if (!fs::exists(directory / "index0")) GTEST_SKIP() << "the kernel says nothing of caches";
  for (int i = 0; fs::exists(directory / ("index" + std::to_string(i))); ++i) {
    const fs::path index = directory / ("index" + std::to_string(i));
    std::string type = first_line(index / "type");
    type[0] = char(type[0] | 0x20);
    expected[{std::stoi(first_line(index / "level")), type}] = {std::stoull(first_line(index / "size")) << 10,
                                                                std::stoi(first_line(index / "coherency_line_size"))};
  }
  for (const auto& cache : machine->caches) {
    found[{cache.level, cache.type}] = {cache.size, cache.line};
    EXPECT_FALSE(cache.shared_with.empty());
  }
  EXPECT_EQ(found, expected);
}

TEST(Machine, OnlyWhatMayBeUsedIsCounted) {
  const auto whole = tool::read_machine();
  ASSERT_TRUE(whole);
  EXPECT_GE(whole->cores, 1);
  EXPECT_LE(whole->cores, int(allowed_processors().size()));
  EXPECT_LE(whole->packages, whole->cores);
  EXPECT_GE(whole->numa_nodes, 1);
  const int last = allowed_processors().back();
  std::thread pinned([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const auto machine = tool::read_machine();
    ASSERT_TRUE(machine);
    EXPECT_EQ(machine->cores, 1);
    EXPECT_EQ(machine->packages, 1);
    EXPECT_EQ(machine->numa_nodes, 1);
  });
  pinned.join();
}

}  // namespace
}  // namespace soffit::test
