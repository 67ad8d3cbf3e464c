// The suite of `soffit check` with every kernel on the GPU and on the lanes. Where arithmetic has one result and its
// order is the same, so are the bits; kernels that take exponentials, sines or logarithms may differ, since each
// library has its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "check/suite.hpp"
#include "compared_device.hpp"
#include "core/topology.hpp"
#include "metal/backend.hpp"
#include "metal/cuda/device.hpp"
#include "metal/lane_device.hpp"

namespace soffit::metal {
namespace {

// By the beginning of their names.
constexpr std::string_view kTranscendental[] = {
    "attention", "rotate", "route", "gated_activation", "soft_cap", "finish", "short_convolution", "gated_delta_rule"};

bool has_one_result(std::string_view kernel) {
  return std::ranges::none_of(kTranscendental, [&](std::string_view name) { return kernel.starts_with(name); });
}

class Bits : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
    auto gpu = cuda_device(cuda_libraries());
    ASSERT_TRUE(gpu) << gpu.error().message;
    auto device = std::make_unique<ComparedDevice>(std::move(*gpu), lane_device(LaneMode::plain, default_threads()));
    compared_ = device.get();
    backend_ = std::make_unique<MetalBackend>("metal-cuda", std::move(device));
  }

  void run(const checker::SuiteOptions& options) {
    checker::Placement placement;
    Backend* list[] = {backend_.get()};
    uint64_t cases = 0, failures = 0;
    checker::run_suite(list, options, placement, [&](const checker::Report& report) {
      ++cases;
      if (report.outcome.verdict == checker::Verdict::failed && ++failures <= 20) {
        ADD_FAILURE() << to_string(report.subject.operation) << " " << info(report.subject.format).name << " "
                      << report.subject.rows << " x " << report.subject.cols << " n " << report.subject.n << " ("
                      << report.subject.variant << "): " << report.outcome.reason;
      }
      return true;
    });
    EXPECT_GT(cases, 0u);
    EXPECT_EQ(failures, 0u);
    std::printf("%-28s %10s %10s %12s %10s %10s\n", "kernel", "dispatches", "equal", "elements", "other", "steps");
    for (const auto& [kernel, c] : compared_->comparisons()) {
      std::printf("%-28s %10llu %10llu %12llu %10llu %10llu\n", kernel.c_str(), (unsigned long long)c.dispatches,
                  (unsigned long long)c.equal, (unsigned long long)c.elements, (unsigned long long)c.other,
                  (unsigned long long)c.most_steps);
      if (has_one_result(kernel)) EXPECT_EQ(c.equal, c.dispatches) << kernel;
    }
  }

  std::unique_ptr<MetalBackend> backend_;
  ComparedDevice* compared_ = nullptr;
};

TEST_F(Bits, FewShapes) { run({.quick = true}); }
TEST_F(Bits, AllShapes) { run({}); }

}  // namespace
}  // namespace soffit::metal
