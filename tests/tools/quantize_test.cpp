// soffit quantize and soffit synth as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "files.hpp"
#include "program.hpp"

namespace soffit::test {
namespace {

using gguf::test::read_bytes;
using gguf::test::TemporaryDirectory;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class QuantizeCommand : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome run = run_program({"synth", "qwen3-tiny", "f16", in_});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  TemporaryDirectory folder_;
  const std::string in_ = folder_ / "in.gguf", out_ = folder_ / "out.gguf";
};

TEST_F(QuantizeCommand, ReportsEveryTensorAsJson) {
  const Outcome run = run_program({"quantize", in_, out_, "Q4_K", "--tensor", "token_embd.weight=q6_k", "--tensor",
                                   "*.ffn_down.weight=q5_k", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json tensors = json::parse(run.out).at("tensors");
  ASSERT_EQ(tensors.size(), 90u);
  const auto find = [&](const char* name) {
    for (const json& tensor : tensors)
      if (tensor.at("name") == name) return tensor;
    return json();
  };
  const json q = find("blk.0.attn_q.weight");
  EXPECT_EQ(q.at("from"), "f16");
  EXPECT_EQ(q.at("to"), "q4_k");
  EXPECT_EQ(q.at("shape"), json({256, 256}));
  EXPECT_EQ(q.at("bytes"), 256 * 144);
  EXPECT_GT(q.at("rmse"), 1e-4);
  // Uniform weights and 16 levels: about 1/16 over the square root of 12, a little more for the scales' rounding.
  EXPECT_NEAR(q.at("relative_rmse").get<double>(), 0.065, 0.02);
  EXPECT_FALSE(q.contains("wanted"));
  EXPECT_EQ(find("token_embd.weight").at("to"), "q6_k");
  EXPECT_EQ(find("blk.7.ffn_down.weight").at("to"), "q5_k");
  EXPECT_EQ(find("output_norm.weight").at("to"), "f32");
  EXPECT_EQ(find("output_norm.weight").at("rmse"), 0);
}

TEST_F(QuantizeCommand, IntoTheSameFormatCopiesTheFile) {
  ASSERT_EQ(run_program({"quantize", in_, out_, "f16"}).exit_code, 0);
  EXPECT_EQ(read_bytes(in_), read_bytes(out_));
}

TEST_F(QuantizeCommand, WritesFilesThatInspectFindsNoFaultIn) {
  for (const char* format : {"tq1_0", "mxfp4", "q3_k"}) {
    ASSERT_EQ(run_program({"quantize", in_, out_, format}).exit_code, 0);
    const Outcome run = run_program({"inspect", out_, "--check", "--output", "json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const json content = json::parse(run.out);
    EXPECT_EQ(content.at("faults"), json::array());
    EXPECT_EQ(content.at("formats").size(), 2u);  // and f32 for vectors
  }
}

TEST_F(QuantizeCommand, SaysWhereAnotherFormatStandsIn) {
  const auto writer = gguf::Writer::create(in_);
  ASSERT_TRUE(writer);
  const int64_t shape[] = {96, 2};
  for (const char* name : {"a.weight", "b.weight"}) ASSERT_TRUE((*writer)->describe(name, 0, shape));
  ASSERT_TRUE((*writer)->write(std::vector<std::byte>(2 * 96 * 2 * 4)));
  ASSERT_TRUE((*writer)->finish());
  const Outcome run = run_program({"quantize", in_, out_, "q4_k", "--output", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("2 tensors (a.weight, …) in q5_0 instead of q4_k: 96 columns are no multiple of 256"));
  EXPECT_EQ(json::parse(run.out).at("tensors")[1].at("wanted"), "q4_k");
}

TEST_F(QuantizeCommand, WrongUsageListsWhatThereIs) {
  const Outcome unknown = run_program({"quantize", in_, out_, "q4_k_m"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no format 'q4_k_m'; there are f32, f16, q4_0"));
  const Outcome without = run_program({"quantize", in_, out_, "iq2_xxs"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("nothing here encodes format 'iq2_xxs'; there are f32"));
  for (const char* tensor : {"*", "=q4_k", "*=", "*=q9"}) {
    const Outcome run = run_program({"quantize", in_, out_, "q4_k", "--tensor", tensor});
    EXPECT_EQ(run.exit_code, 2) << tensor;
  }
  const Outcome unmatched = run_program({"quantize", in_, out_, "q4_k", "--tensor", "blk.8.*=q8_0"});
  EXPECT_EQ(unmatched.exit_code, 2);
  EXPECT_THAT(unmatched.err, HasSubstr("'blk.8.*'"));
  EXPECT_THAT(folder_.entries(), ElementsAre("in.gguf"));
}

TEST_F(QuantizeCommand, AnEmptyNameIsRefusedBeforeTheWork) {
  for (const std::vector<std::string>& files : {std::vector{in_, std::string()}, {std::string(), out_}}) {
    const Outcome run = run_program({"quantize", files[0], files[1], "q4_k"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("an empty name"));
  }
  EXPECT_THAT(folder_.entries(), ElementsAre("in.gguf"));
}

TEST_F(QuantizeCommand, BadFilesFail) {
  EXPECT_EQ(run_program({"quantize", folder_ / "none.gguf", out_, "q4_k"}).exit_code, 1);
  EXPECT_EQ(run_program({"quantize", in_, folder_ / "no/out.gguf", "q4_k"}).exit_code, 1);
  const auto bytes = read_bytes(in_);
  gguf::test::write_bytes(in_, std::span(bytes).first(bytes.size() / 2));
  const Outcome run = run_program({"quantize", in_, out_, "q4_k"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("in.gguf"));
  EXPECT_THAT(folder_.entries(), ElementsAre("in.gguf"));
}

// A file of 30 GB takes longer than this anywhere.
TEST(SynthCommand, LeavesNothingWhenItIsStopped) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
    TemporaryDirectory folder;
    const Outcome run = run_program({"synth", "qwen3-32b", "q8_0", folder / "out.gguf"},
                                    {.signal = signal, .signal_after = std::chrono::milliseconds(500)});
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_TRUE(folder.entries().empty());
  }
}

TEST(SynthCommand, TheSeedIsAnOption) {
  TemporaryDirectory folder;
  const std::string a = folder / "a", b = folder / "b", c = folder / "c";
  EXPECT_EQ(run_program({"synth", "llama-tiny", "iq4_xs", a}).exit_code, 0);
  EXPECT_EQ(run_program({"synth", "llama-tiny", "iq4_xs", b, "--seed", "1", "-t", "1"}).exit_code, 0);
  const Outcome run = run_program({"synth", "llama-tiny", "iq4_xs", c, "--seed", "2"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("random weights in the shapes of tiny Llama 3, iq4_xs, seed 2"));
  EXPECT_EQ(read_bytes(a), read_bytes(b));
  EXPECT_NE(read_bytes(a), read_bytes(c));
}

TEST(SynthCommand, WritesFilesThatInspectFindsNoFaultIn) {
  TemporaryDirectory folder;
  for (const char* shape : {"qwen3-tiny", "qwen3moe-tiny", "llama-tiny"}) {
    for (const char* mix : {"q8_0", "q6_k", "q4_k_m", "ud-q4_k_xl", "iq4_xs", "tq1_0", "tq2_0"}) {
      const std::string out = folder / "out.gguf";
      ASSERT_EQ(run_program({"synth", shape, mix, out}).exit_code, 0);
      const Outcome run = run_program({"inspect", out, "--check", "--output", "json"});
      EXPECT_EQ(run.exit_code, 0) << shape << " " << mix << ": " << run.err;
      EXPECT_EQ(json::parse(run.out).at("faults"), json::array());
    }
  }
}

TEST(SynthCommand, WrongUsageListsWhatThereIs) {
  TemporaryDirectory folder;
  const std::string out = folder / "out";
  const Outcome shape = run_program({"synth", "qwen3-9b", "q8_0", out});
  EXPECT_EQ(shape.exit_code, 2);
  EXPECT_THAT(shape.err, HasSubstr("'qwen3-9b'; there are qwen3-0.6b, "));
  const Outcome mix = run_program({"synth", "qwen3-8b", "q4_k_l", out});
  EXPECT_EQ(mix.exit_code, 2);
  EXPECT_THAT(mix.err, HasSubstr("'q4_k_l'; there are q8_0, "));
  EXPECT_EQ(run_program({"synth", "qwen3-tiny", "q8_0"}).exit_code, 2);
  EXPECT_EQ(run_program({"synth", "qwen3-tiny", "q8_0", folder / "no/out"}).exit_code, 1);
  EXPECT_TRUE(folder.entries().empty());
}

}  // namespace
}  // namespace soffit::test
