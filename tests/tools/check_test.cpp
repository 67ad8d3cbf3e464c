// soffit check: its JSON, its exit codes, what it says of things that are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(CheckCommand, JsonHasEveryCaseAndTheWorst) {
  const Outcome run = run_program({"check", "--quick", "--format", "q4_0,tq1_0", "--op", "linear,get_rows", "--isa",
                                   "scalar", "-t", "2", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_GT(json["passed"].get<int>(), 100);
  EXPECT_EQ(json["failed"], 0);
  EXPECT_EQ(json["skipped"], 0);
  EXPECT_EQ(json["cases"].size(), json["passed"].get<size_t>());
  double worst = 0;
  for (const auto& c : json["cases"]) {
    EXPECT_TRUE(c["op"] == "linear" || c["op"] == "get_rows");
    EXPECT_TRUE(c["format"] == "q4_0" || c["format"] == "tq1_0");
    EXPECT_EQ(c["isa"], "scalar");
    EXPECT_EQ(c["status"], "passed");
    EXPECT_EQ(c["reason"], "");
    EXPECT_THAT(c["kernel"].get<std::string>(), HasSubstr(c["format"].get<std::string>()));
    for (const char* size : {"rows", "cols", "n"}) EXPECT_GT(c[size].get<int>(), 0);
    if (c["op"] == "get_rows") {
      EXPECT_EQ(c["error_over_bound"], 0);
    }
    worst = std::max(worst, c["error_over_bound"].get<double>());
  }
  EXPECT_EQ(json["worst"]["error_over_bound"].get<double>(), worst);
  EXPECT_EQ(json["worst"]["case"]["error_over_bound"].get<double>(), worst);
  // Two operations, two formats, activations rounded or not.
  EXPECT_EQ(json["bounds"].size(), 8u);
}

TEST(CheckCommand, TextHasTheLargestErrorOfEachKernel) {
  const Outcome run = run_program({"check", "--quick", "--format", "q8_0", "--isa", "scalar", "--exact"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("linear_id"), HasSubstr("q8_0"), HasSubstr("exact")));
  EXPECT_THAT(run.err, HasSubstr("0 failed"));
}

TEST(CheckCommand, OperationsWithoutWeights) {
  const Outcome run =
      run_program({"check", "--quick", "--op", "rms_norm,route", "--isa", "scalar", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["failed"], 0);
}

TEST(CheckCommand, WhatIsNotThereIsNamed) {
  const auto refused = [](std::vector<std::string> arguments, const char* asked, const char* there) {
    arguments.insert(arguments.begin(), {"check", "--quick"});
    const Outcome run = run_program(arguments);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, AllOf(HasSubstr(asked), HasSubstr(there)));
  };
  refused({"--format", "q4_7"}, "q4_7", "q4_k");
  refused({"--format", "q4_0,iq2_xxs"}, "iq2_xxs", "tq1_0");
  refused({"--op", "convolve"}, "convolve", "linear_id");
  refused({"--isa", "amx"}, "amx", "scalar");
  refused({"--backend", "metal"}, "metal", "cpu");
  refused({"--device", "3"}, "3", "cpu");
}

}  // namespace
}  // namespace soffit::test
