// The program's frame: help, version, exit codes, standard output that cannot be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.hpp"
#include "program.hpp"

namespace soffit::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Usage, HelpListsEveryCommandOnStdout) {
  const Outcome run = run_program({"--help"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  for (const tool::Command* command : tool::commands()) EXPECT_THAT(run.out, HasSubstr(command->name));
}

TEST(Usage, EveryCommandHasHelpWithExamplesThatNameIt) {
  for (const tool::Command* command : tool::commands()) {
    const Outcome run = run_program({command->name, "--help"});
    EXPECT_EQ(run.exit_code, 0) << command->name;
    EXPECT_THAT(run.out, HasSubstr("Examples:\n")) << command->name;
    EXPECT_THAT(run.out, HasSubstr(std::string("soffit ") + command->name));
    EXPECT_THAT(run.out, HasSubstr("--output"));
  }
}

TEST(Usage, VersionOnStdout) {
  const Outcome run = run_program({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, StartsWith("soffit "));
}

TEST(Usage, NoCommandIsWrongUsage) {
  const Outcome run = run_program({});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("no command given"));
}

TEST(Usage, UnknownCommandListsThoseThereAre) {
  const Outcome run = run_program({"frobnicate\x1b[2J"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("'frobnicate\\x1b[2J'"));
  for (const tool::Command* command : tool::commands()) EXPECT_THAT(run.err, HasSubstr(command->name));
}

TEST(Usage, UnknownGlobalOptionIsWrongUsage) {
  const Outcome run = run_program({"--frobnicate"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--frobnicate"));
}

TEST(Usage, NoColoursInAPipe) {
  const Outcome run = run_program({"frobnicate"}, {.environment = {{"TERM", "xterm"}}});
  EXPECT_THAT(run.err, Not(HasSubstr("\x1b")));
}

TEST(Usage, FullDiskFails) {
  const Outcome run = run_program({"--help"}, {.out_path = "/dev/full"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write to standard output"));
}

TEST(Usage, ClosedPipeFailsQuietly) {
  const Outcome run = run_program({"--help"}, {.close_reader = true});
  EXPECT_EQ(run.signal, 0);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "");
}

}  // namespace
}  // namespace soffit::test
