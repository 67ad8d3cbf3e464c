// Planted faults: each is found, at its line, whatever the order of the lanes; and nothing is found where there is
// none.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <span>

#include "lanes/device_memory.hpp"
#include "lanes/launch.hpp"

extern "C" const soffit::lanes::Library* soffit_metal_faulty_checked();
extern "C" const soffit::lanes::Library* soffit_metal_faulty_plain();

namespace soffit::lanes {
namespace {

constexpr uint32_t kThreads = 64;

struct Ran {
  Outcome outcome;
  std::vector<float> y;
};

Ran run_kernel(const Library& library, std::string_view name, std::optional<uint64_t> seed, uint32_t groups = 1) {
  const Kernel* kernel = find_kernel(library, name);
  EXPECT_NE(kernel, nullptr) << name;
  auto x = DeviceMemory::create(kThreads * 4), y = DeviceMemory::create(kThreads * 4);
  EXPECT_TRUE(x && y);
  const std::span values(reinterpret_cast<float*>(x->data()), kThreads);
  std::iota(values.begin(), values.end(), 1.0f);
  Launch launch;
  launch.grid = {groups, 1, 1};
  launch.threadgroup = {kThreads, 1, 1};
  launch.buffers[0] = {x->data(), x->bytes(), Role::activations, {}};
  launch.buffers[1] = {y->data(), y->bytes(), Role::output, {}};
  if (name == "fine") launch.threadgroup_bytes[0] = 8;
  launch.seed = seed;
  auto outcome = run(library, *kernel, launch);
  EXPECT_TRUE(outcome) << outcome.error().message;
  const float* results = reinterpret_cast<const float*>(y->data());
  return {std::move(*outcome), std::vector<float>(results, results + kThreads)};
}

// The line of the kernel `name` that holds `text`.
uint32_t line_of(std::string_view name, std::string_view text) {
  std::ifstream in(SOFFIT_LANES_TEST_DIR "/faulty.metal");
  std::string line;
  bool inside = false;
  for (uint32_t number = 1; std::getline(in, line); ++number) {
    if (line.find(std::string("void ") + std::string(name) + "(") != std::string::npos) inside = true;
    if (inside && line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << "no line of " << name << " holds " << text;
  return 0;
}

struct Planted {
  const char* kernel;
  FaultKind kind;
  const char* line;                  // a part of it
  const char* message;               // likewise
  const char* other_line = nullptr;  // where it is found when the lanes come the other way round, or once more
};

class PlantedFault : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, IsFoundInEveryOrderOfLanes) {
  const Planted& planted = GetParam();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = run_kernel(*soffit_metal_faulty_checked(), planted.kernel, seed).outcome;
    ASSERT_FALSE(outcome.faults.empty());
    for (const Fault& fault : outcome.faults) {
      SCOPED_TRACE(to_text(fault));
      EXPECT_EQ(fault.kind, planted.kind);
      const uint32_t line = line_of(planted.kernel, planted.line);
      EXPECT_TRUE(fault.line == line ||
                  (planted.other_line && fault.line == line_of(planted.kernel, planted.other_line)));
      EXPECT_EQ(fault.file, "tests/lanes/faulty.metal");
      EXPECT_NE(fault.what.find(planted.message), std::string::npos);
      EXPECT_EQ(fault.kernel, planted.kernel);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Planted, PlantedFault,
    testing::Values(
        Planted{"reads_behind", FaultKind::out_of_bounds, "x[index + 1]",
                "reads 4 bytes 0 bytes behind the end of buffer 0 'x' (256 bytes)"},
        Planted{"reads_before", FaultKind::out_of_bounds, "x[int(index) - 2]", "bytes before buffer 0 'x' (256 bytes)"},
        Planted{"writes_behind", FaultKind::out_of_bounds, "y[index * 2]",
                "behind the end of buffer 1 'y' (256 bytes)"},
        Planted{"unguarded_tail", FaultKind::out_of_bounds, "x[row * 16 + lane]",
                "behind the end of buffer 0 'x' (256 bytes)"},
        Planted{"shared_out_of_bounds", FaultKind::out_of_bounds, "shared[index] = x", "threadgroup variable",
                "y[index] = shared"},
        Planted{"reads_behind_shared", FaultKind::out_of_bounds, "y[index] = shared",
                "bytes behind the end of threadgroup variable"},
        Planted{"misaligned_in_threadgroup", FaultKind::misaligned, "float2", "no multiple of 8"},
        Planted{"wrong_fence_for_device", FaultKind::race, "y[63 - index]", "of buffer 1 'y'"},
        Planted{"sum_against_barrier", FaultKind::divergent, "simd_sum", "wait", "threadgroup_barrier"},
        Planted{"no_barrier", FaultKind::race, "y[index] = shared", "without a barrier", "shared[index] = x"},
        Planted{"wrong_fence", FaultKind::race, "y[index] = shared", "without a barrier"},
        Planted{"simdgroup_barrier_for_all", FaultKind::race, "y[index] = shared", "without a barrier"},
        Planted{"write_after_read", FaultKind::race, "shared[index] = 0.0f", "without a barrier", "y[index] = shared"},
        Planted{"same_result", FaultKind::race, "y[0] = 1.0f", "of buffer 1 'y'", "y[index] = x"},
        Planted{"uninitialised", FaultKind::uninitialised, "y[index] = shared", "which no lane has written"},
        Planted{"divergent_barrier", FaultKind::divergent, "threadgroup_barrier", "which has ended"},
        Planted{"divergent_sum", FaultKind::divergent, "simd_sum", "which has ended"},
        Planted{"misaligned_vector", FaultKind::misaligned, "float4", "no multiple of 16"},
        Planted{"misaligned_word", FaultKind::misaligned, "uint*", "no multiple of 4"},
        Planted{"divides_by_zero", FaultKind::arithmetic, "64 / index", "division by zero"},
        Planted{"too_much_memory", FaultKind::memory_limit, "shared[8193]", "32772 bytes"}),
    [](const auto& info) { return std::string(info.param.kernel); });

TEST(Lanes, TwoMeetingsInTwoLinesAreNotOne) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const auto& [kernel, message] :
         {std::pair("two_sums", "simd_sum in line"), std::pair("two_barriers", "threadgroup_barrier in line")}) {
      const Outcome outcome = run_kernel(*soffit_metal_faulty_checked(), kernel, seed).outcome;
      ASSERT_FALSE(outcome.faults.empty()) << kernel;
      EXPECT_EQ(outcome.faults[0].kind, FaultKind::divergent) << kernel;
      EXPECT_NE(outcome.faults[0].what.find(message), std::string::npos) << to_text(outcome.faults[0]);
    }
  }
}

TEST(Lanes, FindNothingWhereNothingIs) {
  const float sum = kThreads * (kThreads + 1) / 2;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Ran checked = run_kernel(*soffit_metal_faulty_checked(), "fine", seed);
    EXPECT_EQ(checked.outcome.fault_count, 0) << to_text(checked.outcome.faults[0]);
    EXPECT_EQ(checked.y, std::vector<float>(kThreads, sum));
    EXPECT_EQ(run_kernel(*soffit_metal_faulty_plain(), "fine", seed).y, checked.y);
    EXPECT_EQ(run_kernel(*soffit_metal_faulty_checked(), "simdgroup_barrier_within", seed).outcome.fault_count, 0);
  }
}

// Two threadgroups write the same results.
TEST(Lanes, ThreadgroupsRaceForTheSameResults) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = run_kernel(*soffit_metal_faulty_checked(), "fine", seed, 2).outcome;
    ASSERT_FALSE(outcome.faults.empty());
    EXPECT_EQ(outcome.faults[0].kind, FaultKind::race);
  }
}

TEST(Lanes, PlainModeEndsWhereLanesCannotMeet) {
  const Outcome outcome = run_kernel(*soffit_metal_faulty_plain(), "divergent_sum", 1).outcome;
  ASSERT_EQ(outcome.faults.size(), 1);
  EXPECT_EQ(outcome.faults[0].kind, FaultKind::divergent);
}

TEST(Lanes, RefuseLaunchesThatCannotBe) {
  const Library& library = *soffit_metal_faulty_checked();
  const Kernel& kernel = *find_kernel(library, "fine");
  const auto message = [&](const Launch& launch) {
    const auto outcome = run(library, kernel, launch);
    return outcome ? std::string() : outcome.error().message;
  };
  Launch launch;
  EXPECT_EQ(message(launch), "nothing is bound to buffer 0, 'x' of kernel 'fine'");
  launch.threadgroup = {2048, 1, 1};
  EXPECT_EQ(message(launch), "threadgroups of 2048 threads; kernel 'fine' takes 1 to 1024");
  launch.threadgroup = {32, 1, 1};
  launch.grid = {0, 1, 1};
  EXPECT_EQ(message(launch), "a grid without threadgroups");
  EXPECT_EQ(find_kernel(library, "finer"), nullptr);
}

}  // namespace
}  // namespace soffit::lanes
