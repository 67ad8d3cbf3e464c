#include "lanes/fiber.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "core/concat.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SOFFIT_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define SOFFIT_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SOFFIT_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define SOFFIT_TSAN
#endif
#ifdef SOFFIT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SOFFIT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace soffit::lanes {
namespace {

constexpr size_t kGuardBytes = 4096;

// The stacks are ours: nothing to allocate or free.
struct NoAllocator {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) {}
};

}  // namespace

Result<Stacks> Stacks::create(size_t count) {
  Stacks stacks;
  stacks.count_ = count;
  stacks.mapped_ = (count + 1) * kRegionBytes;
  void* mapping =
      mmap(nullptr, stacks.mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return Error{Code::out_of_memory,
                 concat("no address space for the stacks of ", count, " lanes: ", std::strerror(errno))};
  }
  stacks.mapping_ = static_cast<std::byte*>(mapping);
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  stacks.first_ = stacks.mapping_ + ((address + kRegionBytes - 1) / kRegionBytes * kRegionBytes - address);
  // Many mappings of one page could exceed the system's limit, so guards are for as many as it lets us have.
  for (size_t i = 0; i < count; ++i) {
    if (mprotect(stacks.region(i), kGuardBytes, PROT_NONE) != 0) break;
  }
  return stacks;
}

Stacks::Stacks(Stacks&& from) noexcept { *this = std::move(from); }
Stacks& Stacks::operator=(Stacks&& from) noexcept {
  std::swap(mapping_, from.mapping_);
  std::swap(first_, from.first_);
  std::swap(mapped_, from.mapped_);
  std::swap(count_, from.count_);
  return *this;
}
Stacks::~Stacks() {
  if (!mapping_) return;
#ifdef SOFFIT_ASAN
  __asan_unpoison_memory_region(mapping_, mapped_);
#endif
  munmap(mapping_, mapped_);
}

void Fiber::start(std::byte* region, std::function<void()> body) {
  body_ = std::move(body);
  done_ = false;
  stack_ = region + kGuardBytes;
  stack_bytes_ = kStackBytes - kLaneBytes - kGuardBytes;
#ifdef SOFFIT_ASAN
  __asan_unpoison_memory_region(stack_, stack_bytes_);
#endif
#ifdef SOFFIT_TSAN
  thread_fiber_ = __tsan_create_fiber(0);
#endif
  boost::context::stack_context stack;
  stack.sp = stack_ + stack_bytes_;
  stack.size = stack_bytes_;
  self_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                                NoAllocator{}, [this](boost::context::fiber&& outside) {
                                  outside_ = std::move(outside);
#ifdef SOFFIT_ASAN
                                  __sanitizer_finish_switch_fiber(nullptr, &outer_stack_, &outer_bytes_);
#endif
                                  body_();
                                  done_ = true;
#ifdef SOFFIT_ASAN
                                  __sanitizer_start_switch_fiber(nullptr, outer_stack_, outer_bytes_);
#endif
#ifdef SOFFIT_TSAN
                                  __tsan_switch_to_fiber(outer_fiber_, 0);
#endif
                                  return std::move(outside_);
                                });
}

void Fiber::resume() {
#ifdef SOFFIT_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_bytes_);
#endif
#ifdef SOFFIT_TSAN
  outer_fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_fiber_, 0);
#endif
  self_ = std::move(self_).resume();
#ifdef SOFFIT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
#ifdef SOFFIT_TSAN
  if (done_) __tsan_destroy_fiber(std::exchange(thread_fiber_, nullptr));
#endif
}

void Fiber::suspend() {
#ifdef SOFFIT_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, outer_stack_, outer_bytes_);
#endif
#ifdef SOFFIT_TSAN
  __tsan_switch_to_fiber(outer_fiber_, 0);
#endif
  outside_ = std::move(outside_).resume();
#ifdef SOFFIT_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &outer_stack_, &outer_bytes_);
#endif
}

}  // namespace soffit::lanes
