// A line on stderr that says how far long work is. It is shown on a terminal only, after a moment, and is gone when the
// work ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace soffit::tool {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(uint64_t done, uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  const std::string what_;
  const bool enabled_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace soffit::tool
