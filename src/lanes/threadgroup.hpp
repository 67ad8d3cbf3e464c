// One threadgroup at a time: its lanes' fibers, where they meet, and their memory.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lanes/counters.hpp"
#include "lanes/fault.hpp"
#include "lanes/fiber.hpp"
#include "lanes/launch.hpp"
#include "lanes/memory.hpp"

namespace soffit::lanes {

inline constexpr uint64_t kThreadgroupMemory = 32768;  // that Apple's GPUs have for a threadgroup

// What all threadgroups of a launch share. A checked launch runs them one after the other.
struct LaunchState {
  LaunchState(const Library& of, const Kernel& which, const Launch& how)
      : library(of), kernel(which), launch(how), memory(of, which, how), nodes(of) {}
  const Library& library;
  const Kernel& kernel;
  const Launch& launch;
  AddressMap memory;
  Nodes nodes;
  Faults faults;
  Counts counts;
  std::vector<uint64_t> slots;  // by operator and cost
  std::vector<Trace> traces;
  uint32_t traced_simdgroups = 0;
  bool trace_loads = false;
  std::vector<LaneLoads> loads;  // by lane of the first threadgroup
};

class ThreadgroupRunner {
 public:
  static Result<std::unique_ptr<ThreadgroupRunner>> create(LaunchState& state);
  // False when its lanes could not meet: the launch is over.
  bool run(Position group, uint32_t number);

 private:
  struct LaneState {
    ThreadgroupRunner* runner;
    uint32_t index;
    Fiber fiber;
    Arguments arguments;
    bool waiting = false;
    Meeting meeting{};
    uint32_t site = 0, node = 0;  // of what it waits at
  };
  struct Gathering {  // at a collective or barrier
    uint32_t expected = 0, arrived = 0, fences = 0, generation = 0;
    Meeting meeting{};
    uint32_t site = 0, node = 0, first = 0;
  };
  struct Simdgroup {
    Gathering gathering;
    Mailbox mail[2];
    uint32_t barriers = 0;
    SimdgroupCounters counters;
  };
  struct Abandoned {};  // thrown through a kernel that cannot go on

  explicit ThreadgroupRunner(LaunchState& state, Stacks stacks);

  static Flags load(Lane& lane, const void* from, uint32_t bytes, uint32_t alignment, void* to);
  static void store(Lane& lane, void* to, uint32_t bytes, uint32_t alignment, const void* from, Flags flags);
  static void enter(Lane& lane, uint32_t scope);
  static const Mailbox& meet(Lane& lane, Meeting meeting, Fence fence, const void* mail, uint32_t bytes, Flags flags);
  static void* threadgroup_variable(Lane& lane, uint32_t id, uint32_t bytes, uint32_t alignment);
  static void arithmetic_fault(Lane& lane, const char* what);
  static const Hooks kHooks;

  LaneState& state_of(const Lane& lane) { return lanes_[lane.simdgroup * kLanes + lane.lane]; }
  static ThreadgroupRunner& runner_of(const Lane& lane) { return *static_cast<ThreadgroupRunner*>(lane.runner); }
  bool checked() const { return launch_.library.checked; }

  void begin(Position group);
  void start_lane(uint32_t index, Position group);
  void lane_main(LaneState& lane);
  void schedule();
  void arrive(Lane& lane, Gathering& gathering, Meeting meeting, Fence fence);
  void release(Gathering& gathering, uint32_t first, uint32_t count);
  void finish_simdgroups(uint32_t number);
  void report_stuck();
  void fault(const Lane& lane, FaultKind kind, std::string what);
  std::string where(uint32_t site) const;
  Accessor accessor(const Lane& lane) const;
  void* allocate(uint64_t bytes, uint64_t alignment, std::string name);
  std::string bytes_at(std::string_view verb, const void* address, uint32_t bytes) const;
  void count_load(Lane& lane, const Region& region, uint64_t offset, uint32_t bytes);
  void check_history(Lane& lane, Region& region, uint64_t offset, uint32_t bytes, bool write);

  LaunchState& launch_;
  Stacks stacks_;
  std::vector<LaneState> lanes_;
  std::vector<Simdgroup> simdgroups_;
  Gathering all_;
  std::vector<uint32_t> ready_;
  size_t next_ready_ = 0;
  uint32_t unfinished_ = 0, number_ = 0, barriers_ = 0;
  bool abandoned_ = false;
  Position group_{};
  std::mt19937_64 random_;

  std::vector<std::byte> arena_;  // threadgroup memory, with gaps
  uint64_t arena_used_ = 0, memory_used_ = 0;
  std::vector<void*> dynamic_, buffers_;
  std::vector<std::pair<uint32_t, void*>> variables_;  // by their ids
};

}  // namespace soffit::lanes
