#include "lanes/fault.hpp"

#include <algorithm>

#include "core/concat.hpp"

namespace soffit::lanes {

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::uninitialised:
      return "uninitialised";
    case FaultKind::race:
      return "race";
    case FaultKind::divergent:
      return "divergent";
    case FaultKind::arithmetic:
      return "arithmetic";
    case FaultKind::memory_limit:
      return "memory limit";
  }
  return "unknown";
}

std::string to_text(const Fault& f) {
  std::string text = concat(f.file, ":", f.line, ":", f.column, ": ", to_string(f.kind), ": ", f.what, " (kernel ",
                            f.kernel, ", threadgroup (", f.threadgroup.x, ", ", f.threadgroup.y, ", ", f.threadgroup.z,
                            "), simdgroup ", f.simdgroup, ", lane ", f.lane);
  if (f.times > 1) text += concat("; ", f.times, " times");
  return text + ")";
}

void Faults::add(Fault fault) {
  ++total_;
  const auto same = std::ranges::find_if(list_, [&](const Fault& other) {
    return other.kind == fault.kind && other.line == fault.line && other.column == fault.column &&
           other.file == fault.file;
  });
  if (same != list_.end()) {
    ++same->times;
  } else {
    list_.push_back(std::move(fault));
  }
}

}  // namespace soffit::lanes
