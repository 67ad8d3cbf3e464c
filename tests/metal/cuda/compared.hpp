// A test with a GPU and the lanes as one device, and what it finds as a table.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "compared_device.hpp"
#include "core/topology.hpp"
#include "metal/cuda/device.hpp"
#include "metal/lane_device.hpp"

namespace soffit::metal {

class Compared : public testing::Test {
 protected:
  // Skips where there is no GPU.
  void SetUp() override {
    if (const Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
    auto gpu = cuda_device(cuda_libraries());
    ASSERT_TRUE(gpu) << gpu.error().message;
    device_ = std::make_unique<ComparedDevice>(std::move(*gpu), lane_device(LaneMode::plain, default_threads()));
  }

  template <class F>
  static void report(const ComparedDevice& device, F&& has_to_be_equal) {
    EXPECT_FALSE(device.comparisons().empty());
    std::printf("%-28s %10s %10s %12s %10s %10s\n", "kernel", "dispatches", "equal", "elements", "other", "steps");
    for (const auto& [kernel, c] : device.comparisons()) {
      std::printf("%-28s %10llu %10llu %12llu %10llu %10llu\n", kernel.c_str(), (unsigned long long)c.dispatches,
                  (unsigned long long)c.equal, (unsigned long long)c.elements, (unsigned long long)c.other,
                  (unsigned long long)c.most_steps);
      EXPECT_TRUE(c.equal == c.dispatches || !has_to_be_equal(kernel)) << kernel;
    }
  }

  std::unique_ptr<ComparedDevice> device_;
};

}  // namespace soffit::metal
