// soffit compare, run on small scripts that print what a bench would: its figures, and each way in which a comparison
// can be of other code than it seems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/sha256.hpp"
#include "program.hpp"
#include "table.hpp"

namespace soffit::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using tool::Json;

class Compare : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << text;
    return path(name);
  }

  std::string script(const std::string& name, const std::string& body) const {
    const std::string file = write(name, "#!/bin/sh\n" + body + "\n");
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  // Prints this JSON.
  std::string fake(const std::string& name, const Json& json) const {
    return script(name, "cat <<'END'\n" + tool::json_text(json) + "\nEND");
  }

  static Json provenance(const std::string& source, Json libraries = Json::array()) {
    return {{"source_sha256", source},
            {"executable_sha256", "executable of " + source},
            {"libraries", std::move(libraries)},
            {"shaders", Json::array()}};
  }

  // A script that reports a speed, from sources of its own.
  std::string arm(const std::string& name, double speed, Json more = Json::object()) const {
    Json json = {{"tokens_per_second", speed}, {"provenance", provenance(name)}};
    json.update(more);
    return fake(name, json);
  }

  static Outcome compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    return run_program(arguments);
  }

  static Json report(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--output", "json"});
    const Outcome run = compare(std::move(arguments));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.exit_code == 0 ? Json::parse(run.out) : Json();
  }

  static void expect_failure(const std::vector<std::string>& arguments, int exit_code, const std::string& message) {
    const Outcome run = compare(arguments);
    EXPECT_EQ(run.exit_code, exit_code) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(message));
  }

  const fs::path directory_ = fs::path(testing::TempDir()) / ("soffit_compare_" + std::to_string(getpid()));
};

TEST_F(Compare, RatioIsSecondOverFirst) {
  const Json json = report({"a=" + arm("a", 100), "b=" + arm("b", 125)});
  ASSERT_EQ(json["arms"].size(), 2u);
  EXPECT_EQ(json["arms"][0]["name"], "a");
  EXPECT_EQ(json["arms"][1]["median"], 125.0);
  EXPECT_EQ(json["arms"][1]["provenance"]["source_sha256"], "b");
  ASSERT_EQ(json["ratios"].size(), 1u);
  EXPECT_EQ(json["ratios"][0]["arms"], Json({"a", "b"}));
  EXPECT_DOUBLE_EQ(json["ratios"][0]["ratio"], 1.25);
  EXPECT_DOUBLE_EQ(json["ratios"][0]["low"], 1.25);
  EXPECT_TRUE(json["first_difference"].is_null());
  EXPECT_EQ(json["rounds"], 10);
}

TEST_F(Compare, SecondsCountTheOtherWay) {
  const std::string a = fake("a", {{"seconds", 0.5}}), b = fake("b", {{"seconds", 0.25}});
  const Json json = report({"a=" + a, "b=" + b, "--rounds", "6"});
  EXPECT_DOUBLE_EQ(json["ratios"][0]["ratio"], 2);
  EXPECT_EQ(json["arms"][0]["unit"], "1/seconds");
}

TEST_F(Compare, WallTimeWithoutAFigureAndAWarning) {
  const Json json = report({"a=" + script("a", "sleep 0.2"), "b=" + script("b", "sleep 0.02"), "--rounds", "3"});
  EXPECT_GT(json["ratios"][0]["ratio"], 1.5);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("wall time"));
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("too few for a 95 % interval"));
}

TEST_F(Compare, RowsOfAnArrayAreMatched) {
  const auto row = [](const char* format, double seconds) {
    return Json{{"op", "linear"}, {"format", format}, {"seconds", seconds}};
  };
  const std::string a = fake("a", {row("q4_k", 1), row("q6_k", 1), row("q8_0", 1)});
  const std::string b = fake("b", {row("q6_k", 0.25), row("q4_k", 1)});
  const Json json = report({"a=" + a, "b=" + b, "--rounds", "2"});
  ASSERT_EQ(json["ratios"].size(), 3u);
  EXPECT_TRUE(json["ratios"][0]["row"].is_null());
  EXPECT_DOUBLE_EQ(json["ratios"][0]["ratio"], 2);  // the geometric mean of 1 and 4
  EXPECT_EQ(json["ratios"][1]["row"], "linear, q4_k");
  EXPECT_DOUBLE_EQ(json["ratios"][2]["ratio"], 4);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("left out: linear, q8_0"));
}

TEST_F(Compare, OrderIsRotatedEveryRound) {
  const auto logging = [&](const std::string& name) {
    return name + "=" + script(name, "echo " + name + " >> " + path("log") + "\necho '{\"seconds\": 1}'");
  };
  report({logging("a"), logging("b"), logging("c"), "--rounds", "3"});
  std::ifstream log(path("log"));
  std::string order;
  for (std::string line; std::getline(log, line);) order += line;
  EXPECT_EQ(order,
            "abc"
            "abc"
            "bca"
            "cab");  // the first runs are not counted
}

TEST_F(Compare, SameCodeIsRefusedUnlessAsked) {
  const Json same = {{"tokens_per_second", 100}, {"provenance", provenance("same")}};
  const std::string a = fake("a", same), b = "X=1 " + fake("b", same);
  expect_failure({"a=" + a, "b=" + b}, 1, "a and b are the same code: the same program");
  const Json json = report({"a=" + a, "b=" + b, "--identical", "--rounds", "2"});
  EXPECT_DOUBLE_EQ(json["ratios"][0]["ratio"], 1);
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("same code"));
}

TEST_F(Compare, TwoBuildsOfTheSameSourcesAreTheSameCode) {
  Json first = provenance("same"), second = provenance("same");
  second["executable_sha256"] = "another";
  const std::string a = fake("a", {{"seconds", 1}, {"provenance", first}});
  const std::string b = fake("b", {{"seconds", 1}, {"provenance", second}});
  expect_failure({"a=" + a, "b=" + b}, 1, "two builds of the same sources");
  second["flags"] = "-O2";
  fake("b", {{"seconds", 1}, {"provenance", second}});
  EXPECT_THAT(report({"a=" + a, "b=" + b, "--rounds", "1"})["warnings"].dump(), HasSubstr("differ in flags"));
}

TEST_F(Compare, SameFilesWithoutProvenanceAreTheSameCode) {
  const std::string a = fake("a", {{"seconds", 1}});
  expect_failure({"a=" + a + " 1", "b=" + a + " 2"}, 1, "the same files given");
}

// Each run counts itself, and the fourth changes something.
TEST_F(Compare, AProgramReplacedBetweenRounds) {
  const std::string a = script("a", "echo >> " + path("runs") + "\ntest $(wc -l < " + path("runs") +
                                        ") -ne 4 || echo '# newer' >> " + path("b") + "\necho '{\"seconds\": 1}'");
  const std::string b = fake("b", {{"seconds", 1}});
  expect_failure({"a=" + a, "b=" + b}, 1, "b: replaced between rounds: " + b + ": sha256 was");
}

TEST_F(Compare, ALibraryReplacedBetweenRounds) {
  const Json old = {{"seconds", 1}, {"provenance", provenance("b", {{{"name", "libx.so"}, {"sha256", "1111"}}})}};
  const Json now = {{"seconds", 1}, {"provenance", provenance("b", {{{"name", "libx.so"}, {"sha256", "2222"}}})}};
  write("report", tool::json_text(old));
  const std::string b = script("b", "cat " + path("report"));
  const std::string a =
      script("a", "echo >> " + path("runs") + "\ntest $(wc -l < " + path("runs") + ") -ne 4 || echo '" +
                      tool::json_text(now) + "' > " + path("report") + "\necho '{\"seconds\": 1}'");
  expect_failure({"a=" + a, "b=" + b}, 1, "b: replaced between rounds: libx.so: sha256 was 1111");
}

TEST_F(Compare, AGivenLibraryReplacedBetweenRounds) {
  const std::string library = write("lib/libx.so", "old");
  const std::string a = script("a", "echo >> " + path("runs") + "\ntest $(wc -l < " + path("runs") +
                                        ") -ne 4 || echo new > " + library + "\necho '{\"seconds\": 1}'");
  expect_failure({"a=" + a, "b=LD_LIBRARY_PATH=" + path("lib") + " " + fake("b", {{"seconds", 1}})}, 1,
                 library + ": sha256 was");
}

TEST_F(Compare, SourcesRebuiltBetweenRounds) {
  Json old = {{"seconds", 1}, {"provenance", provenance("b")}}, now = old;
  now["provenance"]["source_sha256"] = "edited";
  write("report", tool::json_text(old));
  const std::string b = script("b", "cat " + path("report"));
  const std::string a =
      script("a", "echo >> " + path("runs") + "\ntest $(wc -l < " + path("runs") + ") -ne 4 || echo '" +
                      tool::json_text(now) + "' > " + path("report") + "\necho '{\"seconds\": 1}'");
  expect_failure({"a=" + a, "b=" + b}, 1, "the sources it was built from: sha256 was b");
}

// Such as a variable that points at shaders while others are built into the program.
TEST_F(Compare, AGivenDirectoryThatIsNotLoaded) {
  write("shaders/default.metallib", "mine");
  const std::string command = "METAL_PATH=" + path("shaders") + " " + arm("b", 100);
  expect_failure({"a=" + arm("a", 100), "b=" + command}, 1, "has loaded nothing from it");
  Json loaded = provenance("b");
  loaded["shaders"] = {{{"name", "default.metallib"}, {"sha256", *sha256_of_file(path("shaders/default.metallib"))}}};
  arm("b", 100, {{"provenance", loaded}});
  report({"a=" + arm("a", 100), "b=" + command, "--rounds", "1"});
  loaded["shaders"][0]["sha256"] = "ffff";
  arm("b", 100, {{"provenance", loaded}});
  expect_failure({"a=" + arm("a", 100), "b=" + command}, 1, "has loaded another default.metallib (ffff)");
}

TEST_F(Compare, AGivenLibraryThatIsNotLoaded) {
  const std::string library = write("libx.so.1", "mine");
  expect_failure({"a=" + arm("a", 100), "b=LD_PRELOAD=" + library + " " + arm("b", 100)}, 1,
                 "but what ran has loaded no such file");
  expect_failure({"a=" + arm("a", 100), "b=" + arm("b", 100) + " --plugin=" + library}, 1,
                 "but what ran has loaded no such file");
}

TEST_F(Compare, AGivenProgramThatIsNotTheOneThatRan) {
  const std::string other = path("other");
  fs::copy_file("/bin/sh", other);
  const std::string json = write("json", tool::json_text({{"seconds", 1}, {"provenance", provenance("b")}}));
  const std::string command = other + " -c 'cat " + json + "'";
  expect_failure({"a=" + arm("a", 100), "b=" + command}, 1, "what ran is another program");
  // With its own hash it is the one that ran, through a launcher too.
  Json own = provenance("b");
  own["executable_sha256"] = *sha256_of_file(other);
  write("json", tool::json_text({{"tokens_per_second", 1}, {"provenance", own}}));
  report({"a=" + arm("a", 100), "b=" + command, "--rounds", "1"});
  report({"a=" + arm("a", 100), "b=env X=1 " + command, "--rounds", "1"});
}

TEST_F(Compare, WhatAScriptStartsIsSaidToBeUnseen) {
  const Json json = report({"a=" + arm("a", 1), "b=" + arm("b", 1), "--rounds", "1"});
  EXPECT_THAT(json["warnings"].dump(), HasSubstr("is a script"));
}

TEST_F(Compare, FailingCommandsShowTheEndOfTheirErrors) {
  const std::string bad = script("bad", "echo first >&2\necho 'no such model' >&2\nexit 3");
  expect_failure({"a=" + arm("a", 1), "b=" + bad}, 1,
                 "exit code 3; the end of its standard error:\n  first\n  no such model");
  expect_failure({"a=" + arm("a", 1), "b=" + script("killed", "kill -9 $$")}, 1, "ended by signal 9");
  expect_failure({"a=" + arm("a", 1), "b=" + arm("wrong", 1, {{"checked", false}})}, 1, "wrong results");
  expect_failure({"a=" + arm("a", 1), "b=" + arm("zero", 0)}, 1, "no positive number");
}

TEST_F(Compare, FiguresOfOtherKindsAreNotCompared) {
  expect_failure({"a=" + arm("a", 1), "b=" + fake("b", {{"seconds", 1}})}, 1, "they cannot be compared");
}

TEST_F(Compare, WrongUsage) {
  const std::string a = "a=" + arm("a", 1);
  expect_failure({a}, 2, "two or more arms");
  expect_failure({a, a}, 2, "two arms have the name 'a'");
  expect_failure({a, "echo"}, 2, "'echo' is not NAME=COMMAND");
  expect_failure({a, "b=echo 1 | cat"}, 2, "without a shell");
  expect_failure({a, "b=echo 'x"}, 2, "without a closing '");
  expect_failure({a, "b=X=1"}, 2, "without a program");
  expect_failure({a, "b=" + path("nothing")}, 2, "there is no program");
  expect_failure({a, "b=true", "--rounds", "0"}, 2, "--rounds");
  expect_failure({"--ref", "HEAD"}, 2, "--ref is given twice");
}

TEST_F(Compare, GenerateReportsTheFirstDifference) {
  const Json one = {{"tokens", {5, 6, 7, 8}}, {"top_two_gaps", {1.5, 1.25, 0.5, 0.25}}};
  const Json two = {{"tokens", {5, 6, 9}}, {"top_two_gaps", {1.5, 1.25, 0.125}}};
  const std::vector<std::string> arms = {"a=" + arm("a", 1, one), "b=" + arm("b", 1, two), "--rounds", "1"};
  EXPECT_TRUE(report(arms)["first_difference"].is_null());
  auto asked = arms;
  asked.push_back("--generate");
  const Json found = report(asked)["first_difference"];
  EXPECT_EQ(found["index"], 2);
  EXPECT_EQ(found["tokens"], Json({7, 9}));
  EXPECT_EQ(found["top_two_gaps"], Json({0.5, 0.125}));
  EXPECT_THAT(compare(asked).out, HasSubstr("tokens first differ at 2: [7,9]"));

  arm("b", 1, one);
  EXPECT_TRUE(report(asked)["first_difference"].is_null());
  arm("b", 1, {{"tokens", {5, 6}}});
  EXPECT_EQ(report(asked)["first_difference"]["tokens"], Json({7, nullptr}));
  arm("b", 1);
  expect_failure(asked, 1, "its JSON has none");
}

TEST_F(Compare, TablesHaveARatioForEachLaterArm) {
  const std::vector<std::string> arms = {
      "a=" + arm("a", 100), "b=" + arm("b", 150), "c=" + arm("c", 50), "--rounds", "2", "--output", "csv"};
  const Outcome run = compare(arms);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("name,row,median,low,high,unit,ratio,ratio_low,ratio_high\na,,100.0"));
  EXPECT_THAT(run.out, HasSubstr("b,,150.0,150.0,150.0,tokens/s,1.5"));
  EXPECT_THAT(run.out, HasSubstr("c,,50.0,50.0,50.0,tokens/s,0.5"));
}

TEST_F(Compare, InterruptEndsTheChildrenToo) {
  const std::string slow = script(
      "slow", "sleep 60 &\necho $! > " + path("pid.new") + "\nmv " + path("pid.new") + " " + path("pid") + "\nwait");
  const std::string program = program_path(), a = "a=" + slow, b = "b=" + arm("b", 1);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    execl(program.c_str(), "soffit", "compare", a.c_str(), b.c_str(), nullptr);
    _exit(127);
  }
  for (int i = 0; i < 1000 && !fs::exists(path("pid")); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(fs::exists(path("pid")));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
  pid_t sleeper = 0;
  std::ifstream(path("pid")) >> sleeper;
  ASSERT_GT(sleeper, 1);
  // Its new parent may take a moment to notice.
  const auto runs = [&] {
    std::string state;
    std::ifstream stat("/proc/" + std::to_string(sleeper) + "/stat");
    std::getline(stat, state);
    return !state.empty() && state.find(") Z") == std::string::npos;
  };
  for (int i = 0; i < 250 && runs(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(runs());
}

// A repository whose build makes a script that reports the sources' hash and commit, as soffit does.
class CompareRevisions : public Compare {
 protected:
  void SetUp() override {
    Compare::SetUp();
    if (std::system("command -v git ninja cmake > /dev/null") != 0) GTEST_SKIP() << "needs git, ninja";
    write("r/CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.25)\nproject(r NONE)\nfile(SHA256 ${CMAKE_SOURCE_DIR}/speed source)\n"
          "file(READ ${CMAKE_SOURCE_DIR}/speed speed)\nstring(STRIP \"${speed}\" speed)\n"
          "execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse HEAD OUTPUT_VARIABLE commit "
          "OUTPUT_STRIP_TRAILING_WHITESPACE)\n"
          "file(WRITE ${CMAKE_BINARY_DIR}/soffit \"#!/bin/sh\\necho '{\\\"tokens_per_second\\\": ${speed}, "
          "\\\"provenance\\\": {\\\"source_sha256\\\": \\\"${source}\\\", \\\"executable_sha256\\\": "
          "\\\"e${source}\\\", \\\"commit\\\": \\\"${commit}\\\"}}'\\n\")\n"
          "file(CHMOD ${CMAKE_BINARY_DIR}/soffit PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)\n"
          "add_custom_target(soffit_program)\n");
    write("r/CMakePresets.json",
          R"({"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja",
              "binaryDir": "${sourceDir}/build/release"}],
              "buildPresets": [{"name": "release", "configurePreset": "release"}]})");
    git("init -q");
    commit("100", "one");
    commit("300", "two");
    write("r/note", "nothing that is built");
    commit("300", "same");
  }
  void git(const std::string& arguments) const {
    ASSERT_EQ(std::system(("git -C " + path("r") + " -c user.name=a -c user.email=a@b " + arguments).c_str()), 0);
  }
  void commit(const std::string& speed, const std::string& tag) const {
    write("r/speed", speed + "\n");
    git("add -A");
    git("commit -q -m " + tag);
    git("tag " + tag);
  }
  std::vector<std::string> arguments(const std::string& a, const std::string& b) const {
    return {"--repository", path("r"), "--ref", a, "--ref", b, "--rounds", "2"};
  }
};

TEST_F(CompareRevisions, BuiltAndComparedInWorktreesThatAreRemoved) {
  const Json json = report(arguments("one", "two"));
  ASSERT_EQ(json["arms"].size(), 2u);
  EXPECT_EQ(json["arms"][1]["name"], "two");
  EXPECT_DOUBLE_EQ(json["ratios"][0]["ratio"], 3);
  EXPECT_NE(json["arms"][0]["provenance"]["source_sha256"], json["arms"][1]["provenance"]["source_sha256"]);
  EXPECT_TRUE(!fs::exists(path("r/.git/worktrees")) || fs::is_empty(path("r/.git/worktrees")));
  EXPECT_FALSE(fs::exists(path("r/build")));
}

TEST_F(CompareRevisions, SameSourcesAreRefused) {
  expect_failure(arguments("two", "same"), 1, "two and same are the same code");
}

TEST_F(CompareRevisions, UnknownRevisionAndBrokenBuild) {
  expect_failure(arguments("one", "three"), 1, "three");
  write("r/CMakeLists.txt", "message(FATAL_ERROR \"broken on purpose\")");
  commit("400", "broken");
  expect_failure(arguments("one", "broken"), 1, "broken on purpose");
}

}  // namespace
}  // namespace soffit::test
