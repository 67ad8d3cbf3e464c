#include "lanes/threadgroup.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/concat.hpp"

namespace soffit::lanes {
namespace {

constexpr uint64_t kGap = 4096;  // between threadgroup variables

uint64_t rounded_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

const Hooks ThreadgroupRunner::kHooks = {load, store, enter, meet, threadgroup_variable, arithmetic_fault};

ThreadgroupRunner::ThreadgroupRunner(LaunchState& state, Stacks stacks)
    : launch_(state), stacks_(std::move(stacks)), lanes_(stacks_.count()), random_(state.launch.seed.value_or(0)) {
  simdgroups_.resize((lanes_.size() + kLanes - 1) / kLanes);
  for (size_t s = 0; s < simdgroups_.size(); ++s) {
    simdgroups_[s].gathering.expected = uint32_t(std::min<size_t>(kLanes, lanes_.size() - s * kLanes));
  }
  all_.expected = uint32_t(lanes_.size());
  for (const auto& [index, buffer] : state.launch.buffers) {
    if (buffers_.size() <= index) buffers_.resize(index + 1);
    buffers_[index] = buffer.data;
  }
  arena_.resize(2 * kThreadgroupMemory + 64 * kGap);
}

Result<std::unique_ptr<ThreadgroupRunner>> ThreadgroupRunner::create(LaunchState& state) {
  const Position& size = state.launch.threadgroup;
  SOFFIT_TRY(Stacks stacks, Stacks::create(size_t(size.x) * size.y * size.z));
  return std::unique_ptr<ThreadgroupRunner>(new ThreadgroupRunner(state, std::move(stacks)));
}

bool ThreadgroupRunner::run(Position group, uint32_t number) {
  number_ = number;
  group_ = group;
  begin(group);
  schedule();
  if (checked()) finish_simdgroups(number);
  return !abandoned_;
}

void ThreadgroupRunner::begin(Position group) {
  barriers_ = 0;
  arena_used_ = memory_used_ = 0;
  variables_.clear();
  if (checked()) launch_.memory.drop_threadgroup_memory();
  dynamic_.assign(dynamic_.size(), nullptr);
  for (const auto& [index, bytes] : launch_.launch.threadgroup_bytes) {
    if (dynamic_.size() <= index) dynamic_.resize(index + 1);
    dynamic_[index] = allocate(bytes, 16, concat("threadgroup memory ", index));
  }
  for (Simdgroup& simdgroup : simdgroups_) {
    simdgroup.barriers = 0;
    simdgroup.gathering.arrived = 0;
  }
  all_.arrived = 0;
  if (launch_.trace_loads && number_ == 1) {
    for (uint32_t i = 0; i < lanes_.size(); ++i) launch_.loads.push_back({i / kLanes, i % kLanes, {}});
  }
  ready_.resize(lanes_.size());
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    ready_[i] = i;
    start_lane(i, group);
  }
  if (launch_.launch.seed) std::ranges::shuffle(ready_, random_);
  next_ready_ = 0;
  unfinished_ = uint32_t(lanes_.size());
}

void ThreadgroupRunner::start_lane(uint32_t index, Position group) {
  LaneState& state = lanes_[index];
  const Position size = launch_.launch.threadgroup, grid = launch_.launch.grid;
  const Position in_group = {index % size.x, index / size.x % size.y, index / (size.x * size.y)};
  const uint32_t simdgroup = index / kLanes;

  Lane& lane = *new (&stacks_.lane(index)) Lane();
  lane.hooks = &kHooks;
  lane.simdgroup = simdgroup;
  lane.lane = index % kLanes;
  lane.contract = launch_.launch.contract;
  lane.runner = this;
  if (checked()) {
    auto& counts = simdgroups_[simdgroup].counters.lanes[lane.lane].counts;
    if (counts.size() < launch_.nodes.size() * kCosts) counts.resize(launch_.nodes.size() * kCosts);
    lane.counts = counts.data();
  }

  state.runner = this;
  state.index = index;
  state.waiting = false;
  state.arguments.buffers = buffers_.data();
  state.arguments.threadgroup = dynamic_.data();
  const auto set = [&](Parameter kind, Position p) { state.arguments.position[size_t(kind)] = p; };
  set(Parameter::thread_position_in_grid,
      {group.x * size.x + in_group.x, group.y * size.y + in_group.y, group.z * size.z + in_group.z});
  set(Parameter::threads_per_grid, {grid.x * size.x, grid.y * size.y, grid.z * size.z});
  set(Parameter::threadgroup_position_in_grid, group);
  set(Parameter::threadgroups_per_grid, grid);
  set(Parameter::thread_position_in_threadgroup, in_group);
  set(Parameter::threads_per_threadgroup, size);
  set(Parameter::thread_index_in_threadgroup, {index, 0, 0});
  set(Parameter::thread_index_in_simdgroup, {index % kLanes, 0, 0});
  set(Parameter::threads_per_simdgroup, {kLanes, 0, 0});
  set(Parameter::simdgroup_index_in_threadgroup, {simdgroup, 0, 0});
  set(Parameter::simdgroups_per_threadgroup, {uint32_t(simdgroups_.size()), 0, 0});
  state.fiber.start(stacks_.region(index), [&state] { state.runner->lane_main(state); });
}

void ThreadgroupRunner::lane_main(LaneState& lane) {
  try {
    launch_.kernel.run(lane.arguments);
  } catch (const Abandoned&) {
  }
  --unfinished_;
}

void ThreadgroupRunner::schedule() {
  while (unfinished_ > 0) {
    if (next_ready_ == ready_.size()) {
      if (!abandoned_) report_stuck();
      // Let each lane find out and unwind.
      for (LaneState& lane : lanes_) {
        if (!lane.fiber.done()) lane.fiber.resume();
      }
      return;
    }
    const uint32_t next = ready_[next_ready_++];
    lanes_[next].fiber.resume();
    if (next_ready_ > 4096) {
      ready_.erase(ready_.begin(), ready_.begin() + long(next_ready_));
      next_ready_ = 0;
    }
  }
}

void ThreadgroupRunner::release(Gathering& gathering, uint32_t first, uint32_t count) {
  gathering.arrived = 0;
  ++gathering.generation;
  const size_t begin = ready_.size();
  for (uint32_t i = 0; i < count; ++i) {
    lanes_[first + i].waiting = false;
    ready_.push_back(first + i);
  }
  if (launch_.launch.seed) std::shuffle(ready_.begin() + long(begin), ready_.end(), random_);
}

// The lane waits until all that are expected have come to the same place.
void ThreadgroupRunner::arrive(Lane& lane, Gathering& gathering, Meeting meeting, Fence fence) {
  LaneState& state = state_of(lane);
  if (gathering.arrived == 0) {
    gathering.meeting = meeting;
    gathering.site = lane.site;
    gathering.node = lane.node;
    gathering.first = state.index;
    gathering.fences = 3;
  } else if (gathering.meeting != meeting || gathering.site != lane.site || gathering.node != lane.node) {
    const LaneState& first = lanes_[gathering.first];
    fault(lane, FaultKind::divergent,
          concat("while lane ", first.index % kLanes, " of simdgroup ", first.index / kLanes, " waits at ",
                 where(gathering.site), ", this lane comes to ", where(lane.site)));
    abandoned_ = true;
    throw Abandoned();
  }
  gathering.fences &= uint32_t(fence);
  ++gathering.arrived;
  state.waiting = true;
  state.meeting = meeting;
  state.site = lane.site;
  state.node = lane.node;
  const bool whole = meeting == Meeting::threadgroup_barrier;
  const uint32_t first = whole ? 0 : lane.simdgroup * kLanes;
  if (gathering.arrived == gathering.expected) {
    // Only memory that the barrier names is ordered by it.
    if (meeting != Meeting::simd && gathering.fences != 0) {
      if (whole) {
        ++barriers_;
        for (Simdgroup& simdgroup : simdgroups_) ++simdgroup.barriers;
      } else {
        ++simdgroups_[lane.simdgroup].barriers;
      }
    }
    release(gathering, first, gathering.expected);
  }
  state.fiber.suspend();
  if (abandoned_) throw Abandoned();
}

const Mailbox& ThreadgroupRunner::meet(Lane& lane, Meeting meeting, Fence fence, const void* mail, uint32_t bytes,
                                       Flags flags) {
  ThreadgroupRunner& runner = runner_of(lane);
  Simdgroup& simdgroup = runner.simdgroups_[lane.simdgroup];
  if (meeting == Meeting::threadgroup_barrier) {
    runner.arrive(lane, runner.all_, meeting, fence);
    return simdgroup.mail[0];
  }
  // Two boxes: a fast lane may write into the next one while a slow one still reads this.
  Mailbox& box = simdgroup.mail[simdgroup.gathering.generation % 2];
  if (simdgroup.gathering.arrived == 0) {
    box.present = 0;
    box.reduced = false;
  }
  box.present |= 1u << lane.lane;
  if (bytes) std::memcpy(box.slots[lane.lane].bytes, mail, bytes);
  box.flags[lane.lane] = flags;
  runner.arrive(lane, simdgroup.gathering, meeting, fence);
  return box;
}

void ThreadgroupRunner::enter(Lane& lane, uint32_t scope) {
  ThreadgroupRunner& runner = runner_of(lane);
  runner.launch_.nodes.enter(lane, scope);
  auto& counts = runner.simdgroups_[lane.simdgroup].counters.lanes[lane.lane].counts;
  const size_t needed = runner.launch_.nodes.size() * kCosts;
  if (counts.size() < needed) {
    counts.resize(needed);
    lane.counts = counts.data();
  }
}

void* ThreadgroupRunner::allocate(uint64_t bytes, uint64_t alignment, std::string name) {
  // The arena's own address has the alignment of new only.
  const auto base = reinterpret_cast<uintptr_t>(arena_.data());
  const uint64_t begin = rounded_up(base + arena_used_ + kGap, std::max<uint64_t>(alignment, 128)) - base;
  memory_used_ = rounded_up(memory_used_, 16) + bytes;
  if (begin + bytes + kGap > arena_.size()) return nullptr;
  arena_used_ = begin + bytes;
  if (checked()) launch_.memory.add_threadgroup_memory(arena_.data() + begin, bytes, std::move(name));
  return arena_.data() + begin;
}

void* ThreadgroupRunner::threadgroup_variable(Lane& lane, uint32_t id, uint32_t bytes, uint32_t alignment) {
  ThreadgroupRunner& runner = runner_of(lane);
  for (const auto& [known, address] : runner.variables_) {
    if (known == id) return address;
  }
  void* address = runner.allocate(bytes, alignment, concat("threadgroup variable ", id));
  if (!address || runner.memory_used_ > kThreadgroupMemory) {
    runner.fault(
        lane, FaultKind::memory_limit,
        concat("threadgroup variables of ", runner.memory_used_, " bytes; a threadgroup has ", kThreadgroupMemory));
    runner.abandoned_ = true;
    throw Abandoned();
  }
  runner.variables_.emplace_back(id, address);
  return address;
}

void ThreadgroupRunner::finish_simdgroups(uint32_t number) {
  for (size_t s = 0; s < simdgroups_.size(); ++s) {
    SimdgroupCounters& counters = simdgroups_[s].counters;
    const auto simdgroup = uint32_t((number - 1) * simdgroups_.size() + s);
    if (simdgroup < launch_.traced_simdgroups) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        Trace trace{simdgroup, l, {}};
        for (const auto& [node, run] : counters.lanes[l].runs.list()) trace.runs.push_back(run);
        launch_.traces.push_back(std::move(trace));
      }
    }
    counters.finish(launch_.counts, launch_.slots);
  }
}

std::string ThreadgroupRunner::where(uint32_t site) const {
  if (!checked()) return "a collective";
  const Site& s = launch_.library.sites[site];
  return concat(s.text, " in line ", s.line);
}

// No lane can run, some have not ended: they wait for lanes that are elsewhere.
void ThreadgroupRunner::report_stuck() {
  abandoned_ = true;
  for (const LaneState& lane : lanes_) {
    if (!lane.waiting) continue;
    const bool whole = lane.meeting == Meeting::threadgroup_barrier;
    const uint32_t first = whole ? 0 : lane.index / kLanes * kLanes;
    const uint32_t count = whole ? all_.expected : simdgroups_[lane.index / kLanes].gathering.expected;
    for (uint32_t i = first; i < first + count; ++i) {
      const LaneState& other = lanes_[i];
      if (other.waiting && other.site == lane.site && other.node == lane.node) continue;
      fault(stacks_.lane(lane.index), FaultKind::divergent,
            concat("waits at ", where(lane.site), " for lane ", i % kLanes, " of simdgroup ", i / kLanes, ", which ",
                   other.waiting ? concat("waits at ", where(other.site)) : std::string("has ended")));
      return;
    }
  }
}

void ThreadgroupRunner::fault(const Lane& lane, FaultKind kind, std::string what) {
  Fault fault{kind,
              launch_.kernel.name,
              launch_.library.source,
              launch_.kernel.line,
              0,
              group_,
              lane.simdgroup,
              lane.lane,
              std::move(what),
              1};
  if (checked()) {
    const Site& site = launch_.library.sites[lane.site];
    fault.file = launch_.library.files[site.file];
    fault.line = site.line;
    fault.column = site.column;
  }
  launch_.faults.add(std::move(fault));
}

void ThreadgroupRunner::arithmetic_fault(Lane& lane, const char* what) {
  runner_of(lane).fault(lane, FaultKind::arithmetic, what);
}

}  // namespace soffit::lanes
