#include "core/threads.hpp"

#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/topology.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace soffit {
namespace {

inline void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// About 50 µs: longer than the gaps between the plans of a running generation, short enough to be no load when idle.
constexpr int kSpinsBetweenRuns = 2000;
// A run's members are a few dozen µs apart, and waking one costs as much.
constexpr int kSpinsAtBarrier = 2000;

// Where there are more members than processors, the others cannot get done before who waits has given its own away.
int spins_of(int threads, int spins) { return size_t(threads) > allowed_processors().size() ? 0 : spins; }

// Waits until `done` is true: spins first, then sleeps on the atomic.
template <class T, class Done>
void wait_for(const std::atomic<T>& value, int spins, Done done) {
  for (int i = 0; i < spins; ++i) {
    if (done(value.load(std::memory_order_acquire))) return;
    pause();
  }
  for (;;) {
    const T now = value.load(std::memory_order_acquire);
    if (done(now)) return;
    value.wait(now, std::memory_order_acquire);
  }
}

class OwnThreads final : public Executor {
 public:
  explicit OwnThreads(int size)
      : size_(size),
        spins_at_end_(spins_of(size, kSpinsAtBarrier)),
        spins_between_(spins_of(size, kSpinsBetweenRuns)) {}
  ~OwnThreads() override {
    stop_.store(true, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    for (auto& h : helpers_) h.join();
  }

  Status start() {
    try {
      for (int i = 1; i < size_; ++i) helpers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error& e) {
      return Error{Code::out_of_memory, "cannot start thread " + std::to_string(helpers_.size() + 1) + " of " +
                                            std::to_string(size_) + ": " + e.what()};
    }
    return {};
  }

  int threads() const override { return size_; }

  void run(void (*call)(void*, int), void* context) override {
    if (size_ == 1) return call(context, 0);
    call_ = call;
    context_ = context;
    unfinished_.store(size_ - 1, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
    call(context, 0);
    wait_for(unfinished_, spins_at_end_, [](int n) { return n == 0; });
  }

 private:
  void work(int member) {
    for (uint32_t seen = 0;;) {
      wait_for(generation_, spins_between_, [&](uint32_t g) { return g != seen; });
      ++seen;
      if (stop_.load(std::memory_order_relaxed)) return;
      call_(context_, member);
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
    }
  }

  const int size_, spins_at_end_, spins_between_;
  std::vector<std::thread> helpers_;
  void (*call_)(void*, int) = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<uint32_t> generation_{0};
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<int> unfinished_{0};
};

}  // namespace

Result<std::shared_ptr<Executor>> own_threads(int threads) {
  if (threads < 1 || threads > 4096)
    return invalid_argument(std::to_string(threads) + " threads; 1 to 4096 are possible");
  auto own = std::make_shared<OwnThreads>(threads);
  SOFFIT_CHECK(own->start());
  return std::shared_ptr<Executor>(std::move(own));
}

Team::Team(std::shared_ptr<Executor> executor)
    : executor_(std::move(executor)), size_(executor_->threads()), spins_(spins_of(size_, kSpinsAtBarrier)) {}

void Team::barrier() {
  if (size_ == 1) return;
  const uint32_t phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == size_ - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    phase_.notify_all();
  } else {
    wait_for(phase_, spins_, [&](uint32_t p) { return p != phase; });
  }
}

}  // namespace soffit
