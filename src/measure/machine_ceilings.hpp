// The ceilings of a machine: how fast each level of its memory can be read, by how many threads, and how fast the
// arithmetic of the kernels can go. The lines of a roofline plot (Williams, Waterman, Patterson: Roofline, 2009).
#pragma once

#include <string>
#include <vector>

#include "measure/roof.hpp"
#include "measure/system.hpp"

namespace soffit::measure {

struct ReadCeiling {
  std::string level;  // "L1", "L2", "L3", "DRAM"
  int threads = 0;
  uint64_t bytes = 0;  // that are read again and again
  double gb_per_second = 0;
  std::string reader;
  bool noisy = false;
};
struct ArithmeticCeiling {
  std::string name;  // "int8", "fp32"
  std::string instruction;
  int threads = 0;
  double gflops = 0;
};

// Bytes that are read to measure a level: they fill half of the cache, of as many of them as the threads have, and are
// several times what all the smaller levels hold. 0: there is no such amount, as where a cache is not larger than those
// before it together.
struct Working {
  std::string level;
  uint64_t bytes = 0;
};
// DRAM: four times the largest cache and at least 256 MB, as far as `available` goes; its level is left out where that
// is less than twice the largest cache.
std::vector<Working> working_sets(const std::vector<Cache>& caches, int threads, uint64_t available);

Result<std::vector<ReadCeiling>> read_ceilings(Backend& backend, const std::vector<Working>& sets, double seconds);
Result<std::vector<ArithmeticCeiling>> arithmetic_ceilings(Backend& backend, double seconds);

}  // namespace soffit::measure
