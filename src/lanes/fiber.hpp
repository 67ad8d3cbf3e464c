// Fibers on stacks that begin at a multiple of kRegionBytes, as shim/lane.h wants them.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "lanes/shim/lane.h"
#include "soffit/status.hpp"

namespace soffit::lanes {

// Address space for the stacks and shadows of `count` lanes, touched as far as it is used.
class Stacks {
 public:
  static Result<Stacks> create(size_t count);
  Stacks(Stacks&&) noexcept;
  Stacks& operator=(Stacks&&) noexcept;
  ~Stacks();

  size_t count() const { return count_; }
  std::byte* region(size_t i) const { return first_ + i * kRegionBytes; }
  Lane& lane(size_t i) const { return *reinterpret_cast<Lane*>(region(i) + kStackBytes - kLaneBytes); }

 private:
  Stacks() = default;
  std::byte* mapping_ = nullptr;
  std::byte* first_ = nullptr;
  size_t mapped_ = 0, count_ = 0;
};

class Fiber {
 public:
  // Runs `body` on the region's stack from the first resume() on. The body must not throw.
  void start(std::byte* region, std::function<void()> body);
  void resume();   // from outside: goes on until the next suspend() or the end
  void suspend();  // from inside
  bool done() const { return done_; }

 private:
  std::function<void()> body_;
  boost::context::fiber self_, outside_;
  bool done_ = true;
  // For the sanitizers, which have to know of every switch.
  std::byte* stack_ = nullptr;
  [[maybe_unused]] size_t stack_bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] const void* outer_stack_ = nullptr;
  [[maybe_unused]] size_t outer_bytes_ = 0;
  [[maybe_unused]] void* thread_fiber_ = nullptr;
  [[maybe_unused]] void* outer_fiber_ = nullptr;
};

}  // namespace soffit::lanes
