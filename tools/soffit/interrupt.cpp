#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "command.hpp"

namespace soffit::tool {
namespace {

std::atomic<int> guards{0};
std::atomic<bool> raised{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);  // signal-safe

void on_interrupt(int) {
  if (guards.load() == 0 || raised.exchange(true)) _exit(kInterrupted);
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction old = {}, action = {};
  // Ignored by whoever started the program, such as a shell's background job: leave it so.
  if (sigaction(SIGINT, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) return;
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a read from the keyboard returns, so that the guard's owner can look.
  sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::InterruptGuard() { guards++; }

InterruptGuard::~InterruptGuard() {
  if (--guards == 0) raised = false;
}

bool InterruptGuard::interrupted() const { return raised; }

void InterruptGuard::clear() { raised = false; }

}  // namespace soffit::tool
