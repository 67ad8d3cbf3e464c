// A step of a kernel's loop, found in made-up loads.
#include "lanes/lane_step.hpp"

#include <gtest/gtest.h>

namespace soffit::lanes {
namespace {

constexpr uint64_t kRowBytes = 4096;

TracedLoad code(uint32_t site, uint64_t offset) { return {1, site, 10, 1, 8, true, true, offset}; }
TracedLoad other(uint32_t site, uint32_t buffer, uint64_t offset) {
  return {1, site, 10, buffer, 2, buffer == 1, false, offset};
}

// Four steps of two rows, each with a scale and two loads of codes; activations once a step.
std::vector<LaneLoads> two_rows() {
  LaneLoads lane{0, 5, {}};
  lane.loads.push_back(other(9, 2, 0));  // before the loop
  for (uint64_t step = 0; step < 4; ++step) {
    lane.loads.push_back(other(1, 2, step * 64));
    for (uint64_t row = 0; row < 2; ++row) {
      const uint64_t at = row * kRowBytes + step * 576;
      lane.loads.push_back(other(2, 1, at));
      lane.loads.push_back(code(3, at + 16));
      lane.loads.push_back(code(4, at + 80));
    }
  }
  return {lane};
}

TEST(LaneStep, RepeatsAlongTheRow) {
  const LaneStep step = first_step(two_rows(), kRowBytes);
  EXPECT_EQ(step.buffer, 1u);
  EXPECT_TRUE(step.payload);
  EXPECT_EQ(step.steps, 4u);
  EXPECT_EQ(step.recorded, 1u + 4 * 7);
  ASSERT_EQ(step.lanes.size(), 1u);
  EXPECT_EQ(step.lanes[0].lane, 5u);
  EXPECT_EQ(step.lanes[0].loads.size(), 1u + 7);  // what is before the loop, and a quarter of the rest
  for (const TracedLoad& load : step.lanes[0].loads) EXPECT_LT(load.offset % kRowBytes, 576u);
}

// One step of two rows: the second row is no second step.
TEST(LaneStep, OfTwoRowsIsOne) {
  const std::vector<LaneLoads> loads = {{0, 0, {code(3, 16), code(3, 16 + kRowBytes)}}};
  EXPECT_EQ(first_step(loads, kRowBytes).steps, 1u);
  EXPECT_EQ(first_step(loads, 0).steps, 2u);  // where rows are not known they look like steps
}

// Bytes one after the other are what one load of a device could take.
TEST(LaneStep, IsNoSingleByte) {
  LaneLoads lane{0, 0, {}};
  for (uint64_t i = 0; i < 64; ++i) lane.loads.push_back({1, 3, 10, 1, 1, true, true, i});
  const LaneStep step = first_step({lane}, 0);
  EXPECT_EQ(step.steps, 4u);
  EXPECT_EQ(step.lanes[0].loads.size(), 16u);
}

TEST(LaneStep, OfNothingIsNothing) {
  EXPECT_EQ(first_step({}, 0).recorded, 0u);
  const LaneStep step = first_step({{0, 0, {}}}, 0);
  EXPECT_EQ(step.steps, 1u);
  EXPECT_TRUE(step.lanes[0].loads.empty());
}

}  // namespace
}  // namespace soffit::lanes
