#include "lanes/lane_step.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace soffit::lanes {
namespace {

constexpr uint64_t kLongestLoad = 16;  // what lies nearer one load of a device can take

size_t period(const std::vector<TracedLoad>& loads, uint64_t row_bytes) {
  const size_t n = loads.size();
  for (size_t p = 1; p <= n / 2; ++p) {
    const uint64_t distance = loads[p].offset - loads[0].offset;  // may be negative
    if (std::min(distance, -distance) < kLongestLoad || (row_bytes && distance % row_bytes == 0)) continue;
    const auto repeats = [&](size_t i) {
      const TracedLoad &a = loads[i], &b = loads[i + p];
      return a.node == b.node && a.site == b.site && a.bytes == b.bytes && b.offset - a.offset == distance;
    };
    size_t i = 0;
    while (i < n - p && repeats(i)) ++i;
    if (i == n - p) return p;
  }
  return std::max<size_t>(n, 1);
}

// Of weights before all others, then by bytes.
uint32_t main_buffer(const std::vector<LaneLoads>& lanes) {
  std::map<uint32_t, std::pair<bool, uint64_t>> buffers;
  for (const LaneLoads& lane : lanes) {
    for (const TracedLoad& load : lane.loads) {
      auto& [weights, bytes] = buffers[load.buffer];
      weights = load.weights;
      bytes += load.bytes;
    }
  }
  const auto most = std::ranges::max_element(buffers, {}, [](const auto& entry) { return entry.second; });
  return most == buffers.end() ? 0 : most->first;
}

}  // namespace

LaneStep first_step(const std::vector<LaneLoads>& loads, uint64_t row_bytes) {
  LaneStep step;
  step.buffer = main_buffer(loads);
  for (const LaneLoads& lane : loads) {
    for (const TracedLoad& load : lane.loads) step.payload |= load.buffer == step.buffer && load.payload;
  }
  for (const LaneLoads& lane : loads) {
    std::vector<TracedLoad> main;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> times;  // by operator
    for (const TracedLoad& load : lane.loads) {
      ++times[{load.node, load.site}];
      if (load.buffer == step.buffer && (load.payload || !step.payload)) main.push_back(load);
    }
    const size_t length = period(main, row_bytes);
    const uint64_t steps = std::max<uint64_t>((main.size() + length - 1) / length, 1);
    step.steps = std::max(step.steps, steps);
    step.recorded += lane.loads.size();
    LaneLoads first{lane.simdgroup, lane.lane, {}};
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> taken;
    for (const TracedLoad& load : lane.loads) {
      const std::pair place{load.node, load.site};
      if (taken[place]++ < (times[place] + steps - 1) / steps) first.loads.push_back(load);
    }
    step.lanes.push_back(std::move(first));
  }
  return step;
}

}  // namespace soffit::lanes
