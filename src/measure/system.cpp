#include "measure/system.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "core/concat.hpp"

namespace soffit::measure {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// The "key : value" lines of a file, as those of the first processor in /proc/cpuinfo; up to the first empty line.
std::map<std::string, std::string> fields_of(const std::string& path) {
  std::map<std::string, std::string> fields;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const auto colon = line.find(':');
    if (colon != std::string::npos) fields.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return fields;
}

// "123 kB" of /proc; "32K" and "1M" of /sys.
uint64_t size_of(const std::string& text) {
  std::istringstream stream(text);
  uint64_t size = 0;
  std::string unit;
  if (!(stream >> size)) return 0;
  stream >> unit;
  if (unit == "kB" || unit == "K") return size << 10;
  if (unit == "M") return size << 20;
  return unit == "G" ? size << 30 : size;
}

constexpr const char* kHugePageChoices = "/sys/kernel/mm/transparent_hugepage/enabled";

uint64_t address_space_room() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<uint64_t>::max();
  const uint64_t used = size_of(fields_of("/proc/self/status")["VmSize"]);
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

// What this process's cgroup may still allocate (v2, v1); the largest number where there is no limit. A cgroup
// namespace shows the process's own directory as the root.
uint64_t cgroup_room() {
  uint64_t room = std::numeric_limits<uint64_t>::max();
  std::ifstream self("/proc/self/cgroup");
  for (std::string line; std::getline(self, line);) {
    const auto a = line.find(':'), b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    const bool v2 = b == a + 1;
    if (!v2 && concat(",", line.substr(a + 1, b - a - 1), ",").find(",memory,") == std::string::npos) continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* limit = v2 ? "/memory.max" : "/memory.limit_in_bytes";
    const char* usage = v2 ? "/memory.current" : "/memory.usage_in_bytes";
    for (std::string path = line.substr(b + 1);; path.resize(path.find_last_of('/'))) {
      if (path == "/") path.clear();
      const std::string most = first_line(root + path + limit);
      if (!most.empty() && most != "max") {
        const uint64_t allowed = size_of(most), used = size_of(first_line(root + path + usage));
        room = std::min(room, allowed > used ? allowed - used : 0);
      }
      if (path.find('/') == std::string::npos) break;
    }
  }
  return room;
}

}  // namespace

std::string cpu_name() {
  auto cpu = fields_of("/proc/cpuinfo");
  std::string name = cpu["model name"];
  const auto add = [&](const char* label, const std::string& value) {
    if (!value.empty()) name += (name.empty() ? "" : ", ") + concat(label, " ", value);
  };
  add("family", cpu["cpu family"]);
  add("model", cpu["model"]);
  add("stepping", cpu["stepping"]);
  add("implementer", cpu["CPU implementer"]);
  add("part", cpu["CPU part"]);
  return name;
}

std::string kernel_name() {
  utsname names{};
  return uname(&names) == 0 ? concat(names.sysname, " ", names.release) : "";
}

std::string ranges(std::span<const int> ascending) {
  std::string text;
  for (size_t i = 0, end; i < ascending.size(); i = end) {
    for (end = i + 1; end < ascending.size() && ascending[end] == ascending[end - 1] + 1; ++end) {
    }
    text += concat(text.empty() ? "" : ",", ascending[i]);
    if (end - i > 1) text += concat("-", ascending[end - 1]);
  }
  return text;
}

std::string huge_pages_denied() {
  const std::string choices = first_line(kHugePageChoices);
  if (choices.empty()) return "the system has none";
  if (choices.find("[never]") != std::string::npos) return "the system never gives them (" + choices + ")";
  if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0) return "they are switched off for this process";
  return "";
}

std::string page_sizes() {
  std::string text = concat(sysconf(_SC_PAGESIZE), " B");
  const std::string choices = first_line(kHugePageChoices);
  const auto begin = choices.find('['), end = choices.find(']');
  if (begin == std::string::npos || end < begin) return text;
  text += concat("; transparent huge pages: ", choices.substr(begin + 1, end - begin - 1));
  auto memory = fields_of("/proc/self/smaps_rollup");
  const uint64_t anonymous = size_of(memory["Anonymous"]), huge = size_of(memory["AnonHugePages"]);
  if (anonymous) text += concat(", ", (huge * 100 + anonymous / 2) / anonymous, " % of anonymous memory");
  return text;
}

std::optional<std::array<double, 3>> load_averages() {
  std::array<double, 3> load{};
  if (getloadavg(load.data(), 3) != 3) return std::nullopt;
  return load;
}

std::string date_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[32];
  if (!gmtime_r(&now, &utc) || !std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)) return "";
  return text;
}

MemoryState memory_state() {
  auto memory = fields_of("/proc/meminfo");
  const uint64_t available = std::min({size_of(memory["MemAvailable"]), cgroup_room(), address_space_room()});
  return {size_of(memory["MemTotal"]), available};
}

}  // namespace soffit::measure
