// Runs a kernel of a Library: threadgroup by threadgroup, with a fiber for each lane.
//
// A checked library is run on one thread; what is wrong is reported and what is counted is counted. A plain one is run
// on as many threads as asked for, and only meetings that cannot take place are noticed.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lanes/fault.hpp"
#include "lanes/shim/library.h"
#include "soffit/status.hpp"

namespace soffit::lanes {

enum class Role : uint8_t {
  weights,      // data; payload bytes are those of `layout`
  activations,  // data
  index,        // ids, sizes, arguments: what is computed from them alone is arithmetic of indices
  output,       // data that kernels write, and may read again
};

struct ByteRange {
  uint32_t begin, end;
};
// Which bytes of a block are codes, and not scales.
struct BlockLayout {
  uint32_t block_bytes = 0;
  std::vector<ByteRange> payload;
  bool is_payload(uint64_t offset) const;
};

struct Buffer {
  std::byte* data = nullptr;
  uint64_t bytes = 0;
  Role role = Role::activations;
  BlockLayout layout;
};

// Of a function constant: as an integer or, with `real`, as a number.
struct ConstantValue {
  int64_t integer = 0;
  double number = 0;
  bool real = false;
};

struct Launch {
  Position grid{1, 1, 1};  // in threadgroups
  Position threadgroup{kLanes, 1, 1};
  std::map<uint32_t, Buffer> buffers;
  std::map<uint32_t, uint64_t> threadgroup_bytes;
  std::map<uint32_t, ConstantValue> constants;
  std::optional<uint64_t> seed;  // shuffles the order of lanes and threadgroups
  bool contract = true;          // a product that is added in the same expression is not rounded before
  unsigned threads = 1;          // of a plain library
};

// Sums over the simdgroups of the launch.
struct Counts {
  // 32 times the count of the busiest lane at each operator, by Cost.
  std::array<uint64_t, kCosts> slots{};
  std::array<uint64_t, kCosts> inner{};  // of these, in loops that load payload themselves, and within
  // Passes over payload: loads that the simdgroup issues together.
  uint64_t passes = 0, useful = 0;                  // useful: lanes that took a byte that no lane had taken
  std::array<uint64_t, 3> segments{};               // of 32, 64 and 128 bytes touched by the passes
  uint64_t weight_bytes = 0, activation_bytes = 0;  // each byte once a simdgroup
};

// A lane's payload load, adjacent ones taken together.
struct PayloadRun {
  uint32_t site, ordinal;  // the ordinal-th at this operator
  uint32_t buffer;
  uint32_t bytes;
  uint64_t offset;  // in the buffer
};
// For pictures and for tests of lane maps.
struct Trace {
  uint32_t simdgroup;  // counted over the launch
  uint32_t lane;
  std::vector<PayloadRun> runs;
};

// A lane's load of weights or activations, as its operator asked for it.
struct TracedLoad {
  uint32_t node, site, line;  // line of the source
  uint32_t buffer;
  uint32_t bytes;
  bool weights, payload;
  uint64_t offset;  // in the buffer
};
// All of a lane's, in their order.
struct LaneLoads {
  uint32_t simdgroup, lane;
  std::vector<TracedLoad> loads;
};

struct Outcome {
  std::vector<Fault> faults;
  uint64_t fault_count = 0;
  Counts counts;
  std::vector<Trace> traces;     // of the first `traced` simdgroups
  std::vector<LaneLoads> loads;  // of threadgroup (0, 0, 0), when they are watched
};

struct Watch {
  uint32_t traced_simdgroups = 0;
  bool loads = false;
};

const Kernel* find_kernel(const Library& library, std::string_view name);
// An error is a launch that cannot be: a missing buffer or constant, too many threads. Faults of the kernel are in the
// outcome.
Result<Outcome> run(const Library& library, const Kernel& kernel, const Launch& launch, const Watch& watch = {});

}  // namespace soffit::lanes
