// soffit kernels, run as a script would: the members of its JSON, its exit codes, and the provenance it carries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "program.hpp"
#include "table.hpp"

namespace soffit::test {
namespace {

using testing::HasSubstr;
using tool::Json;

// On a small matrix, unless the arguments say otherwise.
Outcome run_kernels(std::vector<std::string> arguments, const std::string& program = "") {
  const std::pair<const char*, const char*> small[] = {
      {"--rows", "16"}, {"--cols", "256"}, {"--repeat", "2"}, {"--rotate", "20K"}};
  for (const auto& [option, value] : small) {
    if (std::ranges::find(arguments, option) == arguments.end()) arguments.insert(arguments.end(), {option, value});
  }
  arguments.insert(arguments.begin(), "kernels");
  return run_program(arguments, {.program = program});
}

Json rows_of(const std::vector<std::string>& more, const std::string& program = "") {
  std::vector<std::string> arguments = more;
  arguments.insert(arguments.end(), {"--output", "json"});
  const Outcome run = run_kernels(arguments, program);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out);
}

TEST(Kernels, OneRowForEachFormatAndN) {
  const Json rows = rows_of({"--format", "q8_0,f16", "--n", "1,3"});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["format"], "q8_0");
  EXPECT_EQ(rows[1]["n"], 3);
  EXPECT_EQ(rows[2]["format"], "f16");
}

TEST(Kernels, MembersOfTheContract) {
  for (const char* operation : {"linear", "linear_id", "get_rows"}) {
    const Json row = rows_of({"--op", operation, "--format", "q4_k"}).at(0);
    for (const char* text : {"op", "format", "kernel", "layout", "backend", "isa", "bound"}) {
      EXPECT_TRUE(row.at(text).is_string()) << text;
    }
    for (const char* number : {"threads",
                               "rows",
                               "cols",
                               "n",
                               "seconds",
                               "seconds_low",
                               "seconds_high",
                               "file_bytes",
                               "layout_bytes",
                               "gb_per_second",
                               "roof_gb_per_second",
                               "ratio_median",
                               "ratio_low",
                               "ratio_high",
                               "samples",
                               "roof_fraction",
                               "gflops",
                               "roof_gflops",
                               "intensity",
                               "error_over_bound"}) {
      EXPECT_TRUE(row.at(number).is_number()) << number;
    }
    EXPECT_TRUE(row.at("noisy").is_boolean());
    EXPECT_EQ(row.at("checked"), true);
    EXPECT_TRUE(row.at("provenance").is_object());
    EXPECT_EQ(row["op"], operation);
    EXPECT_EQ(row["samples"], 2);
    EXPECT_THAT(row["bound"], testing::AnyOf("memory", "compute"));
  }
}

TEST(Kernels, OptionsReachTheKernel) {
  EXPECT_EQ(rows_of({"--format", "q8_0", "--layout", "file"}).at(0)["layout"], "q8_0");
  EXPECT_EQ(rows_of({"--format", "q8_0", "--no-repack"}).at(0)["layout"], "q8_0");
  EXPECT_NE(rows_of({"--format", "q8_0"}).at(0)["layout"], "q8_0");
  const Json exact = rows_of({"--format", "q8_0", "--exact", "--isa", "scalar", "-t", "1", "--activations", "f16"})[0];
  EXPECT_THAT(exact["kernel"].get<std::string>(), HasSubstr("exact"));
  EXPECT_EQ(exact["isa"], "scalar");
  EXPECT_EQ(exact["threads"], 1);
  EXPECT_EQ(exact["activations"], "f16");
  const Json experts = rows_of({"--op", "linear_id", "--format", "q8_0", "--experts", "6", "--used", "2"})[0];
  EXPECT_EQ(experts["file_bytes"], 2 * 16 * 256 / 32 * 34);
  // Twice 20 kB are not a whole number of copies of 4352 bytes: as many as cover them.
  EXPECT_GE(rows_of({"--format", "q8_0", "--rotate", "20K"})[0]["rotated_bytes"], 20'000);
  EXPECT_EQ(rows_of({"--format", "q8_0", "--rotate", "0"})[0]["rotated_bytes"], 16 * 256 / 32 * 34);
}

TEST(Kernels, WrongUsage) {
  for (const auto& [arguments, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--format", "q9_z"}, "unknown format 'q9_z'; there are f32, f16"},
           {{"--format", "q8_1"}, "no kernels for format 'q8_1'"},
           {{"--format", "q4_k", "--cols", "100"}, "100"},
           {{"--op", "linear_id", "--used", "9", "--format", "q8_0"}, "9 experts used of 8"},
           {{"--op", "get_rows", "--n", "17", "--format", "q8_0"}, "17 different rows of 16"},
           {{"--op", "attention"}, "linear_id"},
           {{"--backend", "cuda"}, "cpu"},
           {{"--repeat", "0"}, "--repeat"},
       }) {
    const Outcome run = run_kernels(arguments);
    EXPECT_EQ(run.exit_code, 2) << message << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(message));
  }
}

// The same program with a byte more, which no loader looks at: the build is the same, what runs is not.
TEST(Kernels, ProvenanceOfAnotherExecutableHasAnotherHash) {
  const std::string changed = testing::TempDir() + "soffit_changed";
  std::filesystem::copy_file(program_path(), changed, std::filesystem::copy_options::overwrite_existing);
  std::ofstream(changed, std::ios::binary | std::ios::app).put('\0');
  const auto provenance_of = [](const std::string& program) {
    return rows_of({"--format", "q8_0"}, program).at(0).at("provenance");
  };
  const Json original = provenance_of(program_path()), other = provenance_of(changed);
  EXPECT_NE(original["executable_sha256"], other["executable_sha256"]);
  EXPECT_EQ(original["source_sha256"], other["source_sha256"]);
  EXPECT_EQ(original["libraries"], other["libraries"]);
  std::filesystem::remove(changed);
}

}  // namespace
}  // namespace soffit::test
