// What a checked launch counts.
//
// A node is a function or loop as it was reached: its scope, the operator that it was entered from, the node before. So
// a function called at two places counts apart for each, as the device has it, where calls are expanded in place. Every
// lane has a counter for each operator of each node; when a simdgroup is through, the largest of its lanes' counts is
// what the simdgroup has issued.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "lanes/launch.hpp"
#include "lanes/memory.hpp"

namespace soffit::lanes {

class Nodes {
 public:
  explicit Nodes(const Library& library) : library_(library) { nodes_.push_back({0, 0, 1, false}); }

  // Moves the lane into the scope. Its counters must have room for size() operators.
  void enter(Lane& lane, uint32_t scope);
  size_t size() const { return size_; }  // operators of all nodes

  void loads_payload(uint32_t node);
  // For each operator, whether it is in a loop that loads payload itself, or in something within.
  std::vector<bool> inner() const;

 private:
  struct Node {
    uint32_t parent, base, operators;
    bool loop, payload = false;
  };
  const Library& library_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, std::unordered_map<uint32_t, uint32_t>> children_;  // by node and site, by scope
  size_t size_ = 1;
};

// Payload loads of a lane.
class PayloadRuns {
 public:
  void add(uint32_t node, uint32_t site, uint32_t buffer, uint64_t offset, uint32_t bytes);
  struct Run {
    uint32_t node;
    PayloadRun run;
  };
  const std::vector<Run>& list() const { return runs_; }
  void clear();

 private:
  static constexpr uint32_t kLongest = 16;  // what one load of a device can take
  static constexpr size_t kOpen = 8;        // the latest runs that a load may lengthen
  std::vector<Run> runs_;
  std::unordered_map<uint64_t, uint32_t> ordinals_;
};

// Of one simdgroup at a time.
class SimdgroupCounters {
 public:
  struct LaneCounters {
    std::vector<uint32_t> counts;
    PayloadRuns runs;
  };
  LaneCounters lanes[kLanes];
  std::map<uint32_t, ByteSet> touched;  // by buffer

  // Adds what the simdgroup did to the sums, and forgets it. `slots` are by operator and cost.
  void finish(Counts& counts, std::vector<uint64_t>& slots);

 private:
  void finish_passes(Counts& counts);
  std::map<uint32_t, ByteSet> taken_;
};

}  // namespace soffit::lanes
