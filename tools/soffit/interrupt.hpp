// Ctrl-C. Without an InterruptGuard it ends the program at once with exit code 130. Within one it only raises a flag
// that the work polls, so that an answer can be stopped or a temporary file removed; a second Ctrl-C ends the program.
#pragma once

namespace soffit::tool {

void install_interrupt_handler();

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // True from the first Ctrl-C within this guard on.
  bool interrupted() const;
  // Forgets it: the program goes on.
  void clear();
};

}  // namespace soffit::tool
