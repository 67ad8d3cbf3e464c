// Time that no clock change disturbs.
#pragma once

#include <chrono>

namespace soffit::measure {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds that f() takes.
template <class F>
double seconds_of(F&& f) {
  const double start = now_seconds();
  f();
  return now_seconds() - start;
}

}  // namespace soffit::measure
