// How many threads this process may use: affinity mask and cgroup quota, as the kernel enforces them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace soffit {

// The processors of the affinity mask, ascending.
std::vector<int> allowed_processors();
// CPU bandwidth quota of the process's cgroup and its parents (v2 or v1) in whole or part processors; 0 when there is
// none.
double cgroup_quota();
// The quota that a cgroup's files state: v2's cpu.max, v1's cpu.cfs_quota_us and cpu.cfs_period_us. 0: none.
double parse_quota_v2(const std::string& max);
double parse_quota_v1(const std::string& quota, const std::string& period);
// The processors that may be used within a quota (0: none), at least 1.
int threads_within(int processors, double quota);
// Threads to use by default: at least 1, at most the allowed processors and the quota rounded down.
int default_threads();

}  // namespace soffit
