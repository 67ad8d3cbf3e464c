// soffit devices, run as a script would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "program.hpp"
#include "soffit/backend.hpp"
#include "table.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tool::Json;

TEST(Devices, JsonSaysWhatThereIsAndWhyNot) {
  const Outcome run = run_program({"devices", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json rows = Json::parse(run.out);
  std::set<std::string> names;
  for (const Json& row : rows) {
    names.insert(row.at("backend").get<std::string>());
    EXPECT_EQ(row.at("available").get<bool>(), row.at("reason").get<std::string>().empty()) << row;
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"cpu", "cuda", "metal", "metal-lanes"}));

  const Json& cpu = rows.at(0);
  ASSERT_EQ(cpu["backend"], "cpu");
  ASSERT_TRUE(cpu["available"].get<bool>());
  EXPECT_EQ(cpu.at("isas").size(), backends()[0].instruction_sets().size());
  for (const Json& isa : cpu["isas"]) {
    EXPECT_EQ(isa.at("available").get<bool>(), isa.at("reason").get<std::string>().empty()) << isa;
    if (isa["name"] == cpu.at("isa")) {
      EXPECT_TRUE(isa["available"].get<bool>());
    }
  }
  EXPECT_GT(cpu.at("memory_bytes").get<uint64_t>(), cpu.at("available_memory_bytes").get<uint64_t>());
  EXPECT_GE(cpu.at("processor_count").get<int>(), cpu.at("threads").get<int>());
  EXPECT_EQ(cpu.at("topology_fault"), Json());
  EXPECT_GE(cpu.at("cores").get<int>(), 1);
  EXPECT_LE(cpu.at("cores").get<int>(), cpu.at("processor_count").get<int>());
  EXPECT_GE(cpu.at("packages").get<int>(), 1);
  EXPECT_GE(cpu.at("numa_nodes").get<int>(), 1);
  EXPECT_EQ(cpu.at("formats").at("linear").size(), 18u);
}

TEST(Devices, Text) {
  const Outcome run = run_program({"devices"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("scalar"));
  EXPECT_THAT(run.out, HasSubstr(" NUMA nodes"));
  EXPECT_THAT(run.out, HasSubstr("cuda  not available: "));
}

TEST(Devices, WhatIsAskedForByNameMustBeThere) {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "devices");
    const Outcome run = run_program(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_THAT(refusal({"--isa", "hopper"}), AllOf(HasSubstr("'hopper'"), HasSubstr("scalar")));
  EXPECT_THAT(refusal({"--backend", "metal"}), AllOf(HasSubstr("'metal'"), HasSubstr("cpu")));
  EXPECT_THAT(refusal({"--device", "7"}), HasSubstr("device 7"));
  const Outcome run = run_program({"devices", "--isa", "scalar", "-t", "1", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)[0].at("isa"), "scalar");
  EXPECT_EQ(Json::parse(run.out)[0].at("threads"), 1);
}

}  // namespace
}  // namespace soffit::test
