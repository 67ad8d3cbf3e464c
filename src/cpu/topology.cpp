#include "cpu/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

namespace soffit::cpu {
namespace {

// One cgroup directory's quota, or 0.
double quota_of(const std::string& directory) {
  std::ifstream v2(directory + "/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period) return quota == "max" || period <= 0 ? 0 : std::atof(quota.c_str()) / period;
  std::ifstream v1(directory + "/cpu.cfs_quota_us"), v1_period(directory + "/cpu.cfs_period_us");
  double q = 0;
  if (v1 >> q && v1_period >> period && q > 0 && period > 0) return q / period;
  return 0;
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

int default_threads() {
  int threads = int(allowed_processors().size());
  if (const double quota = cgroup_quota(); quota > 0) threads = std::min(threads, std::max(1, int(std::floor(quota))));
  return std::max(1, threads);
}

}  // namespace soffit::cpu
