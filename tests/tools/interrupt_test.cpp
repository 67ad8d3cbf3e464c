// Ctrl-C, in child processes.
#include "interrupt.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace soffit::tool {
namespace {

[[noreturn]] void leave(int code) { _exit(code); }

TEST(InterruptDeathTest, EndsTheProgramWith130) {
  EXPECT_EXIT((install_interrupt_handler(), raise(SIGINT)), testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, OnlyRaisesAFlagWithinAGuard) {
  EXPECT_EXIT(
      {
        install_interrupt_handler();
        InterruptGuard guard;
        if (guard.interrupted()) leave(1);
        raise(SIGINT);
        if (!guard.interrupted()) leave(2);
        guard.clear();
        if (guard.interrupted()) leave(3);
        raise(SIGINT);
        leave(guard.interrupted() ? 0 : 4);
      },
      testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, TheSecondEndsTheProgram) {
  EXPECT_EXIT(
      {
        install_interrupt_handler();
        InterruptGuard guard;
        raise(SIGINT);
        raise(SIGINT);
        leave(1);
      },
      testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, AfterTheGuardItEndsTheProgramAgain) {
  EXPECT_EXIT(
      {
        install_interrupt_handler();
        { InterruptGuard guard; }
        raise(SIGINT);
        leave(1);
      },
      testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, StaysIgnoredWhereItWasIgnored) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_IGN);
        install_interrupt_handler();
        raise(SIGINT);
        leave(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace soffit::tool
