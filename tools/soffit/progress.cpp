#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace soffit::tool {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(300);

}  // namespace

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), enabled_(isatty(STDERR_FILENO)), next_(Clock::now() + kInterval) {}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::update(uint64_t done, uint64_t total) {
  if (!enabled_ || total == 0 || Clock::now() < next_) return;
  next_ = Clock::now() + kInterval;
  shown_ = true;
  fmt::print(stderr, "\r\x1b[K{} {:.0f} %", what_, 100.0 * double(done) / double(total));
}

}  // namespace soffit::tool
