#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "command.hpp"

namespace soffit::tool {
namespace {

std::atomic<int> guards{0};
std::atomic<bool> raised{false};
std::atomic<int> termination{0};  // the signal that asked for it
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);  // signal-safe

int exit_code(int signal) { return signal == SIGINT ? int(kInterrupted) : 128 + signal; }

void on_signal(int signal) {
  if (guards.load() == 0 || raised.exchange(true)) _exit(exit_code(signal));
  if (signal != SIGINT) termination = signal;
}

}  // namespace

void install_interrupt_handler() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old = {}, action = {};
    // Ignored by whoever started the program, such as a shell's background job or nohup: leave it so.
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    // No SA_RESTART: a read from the keyboard returns, so that the guard's owner can look.
    sigaction(signal, &action, nullptr);
  }
}

InterruptGuard::InterruptGuard() { guards++; }

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  if (const int signal = termination) _exit(exit_code(signal));
  raised = false;
}

bool InterruptGuard::interrupted() const { return raised; }

void InterruptGuard::clear() {
  if (!termination) raised = false;
}

}  // namespace soffit::tool
