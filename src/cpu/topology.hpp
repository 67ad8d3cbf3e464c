// How many threads this process may use: affinity mask and cgroup quota, as the kernel enforces them.
#pragma once

#include <cstdint>
#include <vector>

namespace soffit::cpu {

// The processors of the affinity mask, ascending.
std::vector<int> allowed_processors();
// CPU bandwidth quota of the process's cgroup and its parents (v2 or v1) in whole or part processors; 0 when there is
// none.
double cgroup_quota();
// Threads to use by default: at least 1, at most the allowed processors and the quota rounded down.
int default_threads();

}  // namespace soffit::cpu
