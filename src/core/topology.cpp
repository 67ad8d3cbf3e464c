#include "core/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace soffit {
namespace {

// A small file, empty when it cannot be read.
std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One cgroup directory's quota, or 0.
double quota_of(const std::string& directory) {
  const std::string v2 = content(directory + "/cpu.max");
  if (!v2.empty()) return parse_quota_v2(v2);
  return parse_quota_v1(content(directory + "/cpu.cfs_quota_us"), content(directory + "/cpu.cfs_period_us"));
}

}  // namespace

std::vector<int> allowed_processors() {
  std::vector<int> list;
  // The mask may be wider than cpu_set_t: grow until the kernel accepts the size.
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t* set = CPU_ALLOC(size);
    if (!set) break;
    const size_t bytes = CPU_ALLOC_SIZE(size);
    if (sched_getaffinity(0, bytes, set) == 0) {
      for (int i = 0; i < size; ++i)
        if (CPU_ISSET_S(i, bytes, set)) list.push_back(i);
      CPU_FREE(set);
      break;
    }
    CPU_FREE(set);
  }
  if (list.empty()) list.push_back(0);
  return list;
}

double cgroup_quota() {
  double least = 0;
  std::ifstream self("/proc/self/cgroup");
  std::string line;
  while (std::getline(self, line)) {
    // hierarchy:controllers:path
    const auto a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    const std::string controllers = line.substr(a + 1, b - a - 1);
    const bool v2 = controllers.empty();
    if (!v2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    for (std::string path = line.substr(b + 1);;) {
      const double q = quota_of(root + path);
      if (q > 0) least = least > 0 ? std::min(least, q) : q;
      if (path.empty() || path == "/") break;
      path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    }
  }
  return least;
}

double parse_quota_v2(const std::string& max) {
  const auto space = max.find(' ');
  return space == std::string::npos ? 0 : parse_quota_v1(max.substr(0, space), max.substr(space + 1));
}

// "max" and -1 are no numbers above 0, and neither is what cannot be read.
double parse_quota_v1(const std::string& quota, const std::string& period) {
  const double q = std::atof(quota.c_str()), p = std::atof(period.c_str());
  return q > 0 && p > 0 ? q / p : 0;
}

int threads_within(int processors, double quota) {
  const int within = quota > 0 ? std::min(processors, int(std::min(quota, 1e6))) : processors;
  return std::max(1, within);
}

int default_threads() { return threads_within(int(allowed_processors().size()), cgroup_quota()); }

}  // namespace soffit
