// What is wrong with a kernel, and where.
#pragma once

#include <string>
#include <vector>

#include "lanes/shim/library.h"

namespace soffit::lanes {

enum class FaultKind : uint8_t {
  out_of_bounds,
  misaligned,
  uninitialised,  // threadgroup memory that nobody has written
  race,
  divergent,  // a barrier or collective that not all lanes come to
  arithmetic,
  memory_limit,
};
const char* to_string(FaultKind kind);

struct Fault {
  FaultKind kind;
  std::string kernel, file;
  uint32_t line = 0, column = 0;
  Position threadgroup{};
  uint32_t simdgroup = 0, lane = 0;
  std::string what;
  uint64_t times = 1;  // at this place
};

// "q4_k.metal:31:20: out of bounds: … (kernel linear, threadgroup (0, 0, 0), simdgroup 1, lane 7; 12 times)"
std::string to_text(const Fault& fault);

// One entry for a kind and place, with its first occurrence.
class Faults {
 public:
  void add(Fault fault);
  const std::vector<Fault>& list() const { return list_; }
  std::vector<Fault> take() { return std::move(list_); }
  uint64_t total() const { return total_; }

 private:
  std::vector<Fault> list_;
  uint64_t total_ = 0;
};

}  // namespace soffit::lanes
