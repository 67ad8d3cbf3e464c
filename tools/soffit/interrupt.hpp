// Ctrl-C, and the signals that ask a program to end. Without an InterruptGuard they end the program at once, with
// exit code 130 or 128 + the signal. Within one they only raise a flag that the work polls, so that an answer
// can be stopped or a temporary file removed; a second signal ends the program. After SIGTERM and SIGHUP the program
// ends with its last guard, with exit code 128 + the signal's number, whatever it would do next.
#pragma once

namespace soffit::tool {

void install_interrupt_handler();

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // True from the first signal within this guard on.
  bool interrupted() const;
  // Forgets a Ctrl-C: the program goes on.
  void clear();
};

}  // namespace soffit::tool
