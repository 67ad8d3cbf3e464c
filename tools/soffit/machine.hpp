// Packages, NUMA nodes, cores and caches, by hwloc. Which processors may be used is the system's to say: core/topology.
#pragma once

#include <vector>

#include "measure/system.hpp"
#include "soffit/status.hpp"

namespace soffit::tool {

// Of the processors that this process may use.
struct Machine {
  int packages = 0, numa_nodes = 0, cores = 0;
  std::vector<measure::Cache> caches;  // of the first of these processors, from the smallest on
};
Result<Machine> read_machine();

}  // namespace soffit::tool
