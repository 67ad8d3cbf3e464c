// A team of threads that runs one function together. Between runs the helpers spin for a short while and then sleep in
// the kernel, so that an idle program costs nothing. Inside a run the members meet at barriers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::cpu {

class Team {
 public:
  // The calling thread is member 0; `threads - 1` helpers are started. Members are not pinned: the system may move them
  // within the process's affinity mask.
  static Result<std::unique_ptr<Team>> create(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }

  // Calls f(member) in every member and returns when all have. Not reentrant; one caller at a time.
  template <class F>
  void run(F&& f) {
    run_erased([](void* context, int member) { (*static_cast<std::remove_reference_t<F>*>(context))(member); }, &f);
  }

  // Inside run(): returns when every member has called it as often.
  void barrier();

 private:
  explicit Team(int size) : size_(size) {}
  void run_erased(void (*call)(void*, int), void* context);
  void work(int member);

  const int size_;
  std::vector<std::thread> helpers_;
  void (*call_)(void*, int) = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<uint32_t> generation_{0};
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<int> unfinished_{0};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> phase_{0};
};

}  // namespace soffit::cpu
