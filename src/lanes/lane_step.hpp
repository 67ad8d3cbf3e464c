// One step of a kernel's loop over weights, found in the loads of its lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "lanes/launch.hpp"

namespace soffit::lanes {

struct LaneStep {
  uint32_t buffer = 0;    // that the step goes through: of weights if there are any, else the one that is read most
  bool payload = false;   // which of its bytes are codes is known
  uint64_t steps = 0;     // of the lane that has the most
  uint64_t recorded = 0;  // loads, of all steps
  std::vector<LaneLoads> lanes;  // the loads of each lane's first step
};

// A lane's step is the shortest period in which its loads of codes repeat at one distance, at least as long as a
// device's longest load and no multiple of `row_bytes`: the same operators, so many bytes on. Where nothing repeats,
// all is one step. Of other operators a step has its share, from the first on.
LaneStep first_step(const std::vector<LaneLoads>& loads, uint64_t row_bytes);

}  // namespace soffit::lanes
