// A team: an executor's threads, which meet at barriers. Without a caller's executor the threads are our own: between
// runs they spin for a short while and then sleep in the kernel, so that an idle program costs nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "soffit/backend.hpp"

namespace soffit {

// `threads - 1` threads are started; the caller of run() is member 0. They are not pinned: the system may move them
// within the process's affinity mask.
Result<std::shared_ptr<Executor>> own_threads(int threads);

class Team {
 public:
  explicit Team(std::shared_ptr<Executor> executor);

  int size() const { return size_; }

  // Calls f(member) in every member and returns when all have. Several threads may call it; one runs at a time, the
  // others wait. Not from inside f.
  template <class F>
  void run(F&& f) {
    const std::lock_guard lock(mutex_);
    using Function = std::remove_reference_t<F>;
    executor_->run([](void* context, int member) { (*static_cast<Function*>(context))(member); }, &f);
  }

  // Inside run(): returns when every member has called it as often.
  void barrier();

 private:
  const std::shared_ptr<Executor> executor_;
  const int size_, spins_;
  std::mutex mutex_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
};

}  // namespace soffit
