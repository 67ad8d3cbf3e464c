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

TEST(InterruptDeathTest, TerminationWaitsForTheGuardAndThenEndsTheProgram) {
  const auto terminated = [](int signal) {
    install_interrupt_handler();
    {
      const InterruptGuard outer;
      {
        InterruptGuard guard;
        raise(signal);
        if (!guard.interrupted()) leave(1);
        guard.clear();  // as a conversation goes on after an answer that was stopped
        if (!guard.interrupted()) leave(2);
      }
      if (!outer.interrupted()) leave(3);
    }
    leave(4);
  };
  EXPECT_EXIT(terminated(SIGTERM), testing::ExitedWithCode(128 + SIGTERM), "");
  EXPECT_EXIT(terminated(SIGHUP), testing::ExitedWithCode(128 + SIGHUP), "");
}

TEST(InterruptDeathTest, StaysIgnoredWhereItWasIgnored) {
  EXPECT_EXIT(
      {
        signal(SIGINT, SIG_IGN);
        signal(SIGHUP, SIG_IGN);  // as after `nohup … &`
        install_interrupt_handler();
        raise(SIGINT);
        raise(SIGHUP);
        leave(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace soffit::tool
