// What scripts rely on: every command's fields in its JSON, and its options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "files.hpp"
#include "program.hpp"

namespace soffit::test {
namespace {

using gguf::test::TemporaryDirectory;
using nlohmann::json;
using testing::HasSubstr;

class Contract : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryDirectory>();
    const Outcome synth = run_program({"synth", "llama-tiny", "q8_0", model()});
    ASSERT_EQ(synth.exit_code, 0) << synth.err;
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string model() { return *folder_ / "model.gguf"; }
  static json report(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--output", "json"});
    const Outcome run = run_program(arguments);
    EXPECT_EQ(run.exit_code, 0) << arguments[0] << ": " << run.err;
    json parsed = json::parse(run.out, nullptr, false);  // stdout has the JSON and nothing else
    EXPECT_FALSE(parsed.is_discarded()) << arguments[0] << ": " << run.out;
    return parsed;
  }
  // `where` is a JSON pointer; "" is the whole report.
  static void expect_fields(const json& report, const std::string& where, std::vector<const char*> fields) {
    const json::json_pointer pointer(where);
    ASSERT_TRUE(report.contains(pointer)) << where;
    for (const char* field : fields) EXPECT_TRUE(report.at(pointer).contains(field)) << where << "/" << field;
  }
  static void expect_provenance(const json& report, const std::string& where) {
    expect_fields(
        report, where,
        {"version", "commit", "dirty", "source_sha256", "executable_sha256", "libraries", "shaders", "compiler",
         "flags", "cpu", "isa", "threads", "affinity", "pages", "load", "device", "driver", "date"});
    expect_fields(report, where + "/libraries/0", {"name", "sha256"});
  }

  static std::unique_ptr<TemporaryDirectory> folder_;
};
std::unique_ptr<TemporaryDirectory> Contract::folder_;

TEST_F(Contract, Run) {
  const json run = report({"run", "-m", model(), "-p", "a", "-n", "3", "--ignore-eos"});
  expect_fields(run, "",
                {"text", "tokens", "prompt_tokens", "generated_tokens", "stop", "load_seconds", "first_token_seconds",
                 "prompt_tokens_per_second", "tokens_per_second", "bytes_per_token", "roof_fraction",
                 "peak_resident_bytes", "file_bytes", "provenance"});
  expect_provenance(run, "/provenance");
}

TEST_F(Contract, Bench) {
  const json bench = report({"bench", "-m", model(), "-p", "4", "-n", "2", "-d", "0", "-r", "1"});
  ASSERT_EQ(bench.size(), 2u);
  for (const char* row : {"/0", "/1"}) {
    expect_fields(bench, row,
                  {"model", "backend", "isa", "threads", "layout", "test", "depth", "repetitions", "tokens_per_second",
                   "stddev", "bytes_per_token", "gb_per_second", "roof_gb_per_second", "roof_fraction", "gflops",
                   "linear_seconds", "other_seconds", "barriers", "provenance"});
  }
  EXPECT_EQ(bench[0]["test"], "pp4");
  EXPECT_EQ(bench[1]["test"], "tg2");
  expect_provenance(bench, "/0/provenance");
}

TEST_F(Contract, Kernels) {
  for (const char* operation : {"linear", "linear_id", "get_rows"}) {
    const json kernels = report({"kernels", "--op", operation, "--format", "q8_0", "--rows", "32", "--cols", "256",
                                 "--n", "2", "--experts", "4", "--used", "2", "--rotate", "0", "--repeat", "1"});
    expect_fields(kernels, "/0",
                  {"op",
                   "format",
                   "kernel",
                   "layout",
                   "backend",
                   "isa",
                   "threads",
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
                   "noisy",
                   "bound",
                   "roof_fraction",
                   "gflops",
                   "roof_gflops",
                   "intensity",
                   "error_over_bound",
                   "checked",
                   "provenance"});
    EXPECT_EQ(kernels[0]["op"], operation);
    EXPECT_TRUE(kernels[0]["checked"].is_boolean());
    EXPECT_TRUE(kernels[0]["bound"] == "memory" || kernels[0]["bound"] == "compute");
    expect_provenance(kernels, "/0/provenance");
  }
}

TEST_F(Contract, Check) {
  const json check = report({"check", "--quick", "--format", "q8_0", "--op", "linear", "--isa", "scalar"});
  expect_fields(check, "", {"passed", "failed", "skipped", "worst", "cases"});
  expect_fields(check, "/worst", {"case", "error_over_bound"});
  expect_fields(check, "/cases/0",
                {"op", "format", "isa", "kernel", "rows", "cols", "n", "error_over_bound", "status", "reason"});
}

TEST_F(Contract, Devices) {
  const json devices = report({"devices"});
  ASSERT_EQ(devices.size(), 4u);
  for (const char* row : {"/0", "/1", "/2", "/3"}) expect_fields(devices, row, {"backend", "available", "reason"});
}

TEST_F(Contract, Roofline) {
  const json roofline = report(
      {"roofline", "--format", "f16", "--rows", "64", "--cols", "256", "--n", "1", "--rotate", "0", "--repeat", "1"});
  expect_fields(roofline, "", {"machine", "ceilings", "kernels"});
}

TEST_F(Contract, Compare) {
  const json compare =
      report({"compare", "--identical", "--rounds", "2", "a=echo '{\"seconds\": 2}'", "b=echo '{\"seconds\": 1}'"});
  expect_fields(compare, "", {"arms", "ratios", "warnings", "first_difference"});
  expect_fields(compare, "/arms/0", {"name", "median", "low", "high", "provenance"});
  expect_fields(compare, "/ratios/0", {"arms", "ratio", "low", "high"});
  EXPECT_EQ(compare["ratios"][0]["ratio"], 2.0);  // above 1: the second is faster
}

TEST_F(Contract, Inspect) {
  const json inspect = report({"inspect", model(), "--check"});
  expect_fields(inspect, "", {"version", "architecture", "metadata", "tensors", "formats", "faults"});
  expect_fields(inspect, "/tensors/0", {"name", "format", "shape", "bytes", "offset"});
  expect_fields(inspect, "/formats/0", {"format", "tensors", "bytes", "bits_per_weight"});
  EXPECT_EQ(inspect["metadata"]["general.architecture"], "llama");
}

TEST_F(Contract, TokenizeAndDetokenize) {
  const json ids = report({"tokenize", "-m", model(), "-p", "a b", "--bos"});
  ASSERT_TRUE(ids.is_array());
  ASSERT_FALSE(ids.empty());
  std::vector<std::string> arguments = {"detokenize", "-m", model(), "--no-special"};
  for (const json& id : ids) arguments.push_back(std::to_string(id.get<int>()));
  EXPECT_EQ(report(arguments), "a b");
}

TEST_F(Contract, Perplexity) {
  const std::string text = *folder_ / "text";
  std::ofstream(text) << std::string(200, 'a');
  const json perplexity = report({"perplexity", "-m", model(), "-f", text, "-c", "16", "--chunks", "2"});
  expect_fields(perplexity, "",
                {"perplexity", "stderr", "tokens", "chunks", "kl_mean", "kl_p99", "kl_max", "same_top"});
}

TEST_F(Contract, Quantize) {
  const json quantize = report({"quantize", model(), *folder_ / "out.gguf", "q4_k"});
  expect_fields(quantize, "/tensors/0", {"name", "from", "to", "rmse"});
}

// Their values are tested with each command; this is that none loses its name.
TEST_F(Contract, Options) {
  const std::vector<std::string> common = {"-m",          "-t",      "--backend", "--isa", "--device", "-ngl",
                                           "--no-repack", "--exact", "--seed",    "-v",    "--output"};
  const std::vector<std::pair<std::string, std::vector<std::string>>> commands = {
      {"run",
       {"-p", "-f", "-n", "-c", "--temp", "--top-k", "--top-p", "--min-p", "--repeat-penalty", "--chat", "-cnv",
        "--system"}},
      {"bench", {"-p", "-n", "-d", "-r"}},
      {"kernels",
       {"--op", "--format", "--rows", "--cols", "--n", "--experts", "--used", "--activations", "--layout", "--rotate",
        "--repeat"}},
      {"check", {"--format", "--op", "--quick"}},
      {"devices", {}},
      {"roofline", {"-o", "--from"}},
      {"compare", {"--rounds", "--identical", "--generate", "--ref"}},
      {"inspect", {"--tensors", "--check"}},
      {"tokenize", {"-p", "--no-special", "--bos"}},
      {"detokenize", {}},
      {"perplexity", {"-f", "-c", "--chunks", "--save-logits", "--kl-against"}},
      {"quantize", {"--tensor"}},
      {"synth", {}},
  };
  for (const auto& [command, own] : commands) {
    const std::string help = run_program({command, "--help"}).out;
    std::vector<std::string> options = common;
    options.insert(options.end(), own.begin(), own.end());
    for (const std::string& option : options) {
      EXPECT_THAT(help, testing::ContainsRegex("[ ,]" + option + "[ ,\n]")) << command;
    }
  }
}

TEST_F(Contract, BackendsAndInstructionSetsAreKnownByName) {
  // Known here or elsewhere: asked for, they are refused as not available, not as unknown.
  for (const char* backend : {"cuda", "metal", "metal-lanes"}) {
    const Outcome run = run_program({"devices", "--backend", backend});
    if (run.exit_code == 0) continue;  // on a machine that has it
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("there is: cpu")) << backend;
  }
  for (const char* isa : {"scalar", "avx2", "avx_vnni", "avx512", "amx", "neon", "neon_dotprod", "neon_i8mm"}) {
    const Outcome run = run_program({"devices", "--isa", isa});
    if (run.exit_code == 0) continue;
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("scalar")) << isa;
  }
}

}  // namespace
}  // namespace soffit::test
