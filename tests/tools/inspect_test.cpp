// soffit inspect, run as a user would.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/half.hpp"
#include "files.hpp"
#include "program.hpp"
#include "raw_bytes.hpp"

namespace soffit::test {
namespace {

using gguf::ValueType;
using gguf::test::RawBytes;
using gguf::test::TemporaryDirectory;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Inspect : public testing::Test {
 protected:
  std::string write(const RawBytes& raw) {
    gguf::test::write_bytes(path_, raw.bytes());
    return path_.string();
  }
  static json parsed(const Outcome& run) {
    EXPECT_EQ(run.err, "");
    return json::parse(run.out);
  }
  const TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "model.gguf";
};

TEST_F(Inspect, Json) {
  const Outcome run = run_program({"inspect", write(gguf::test::sample_file()), "--output", "json"});
  EXPECT_EQ(run.exit_code, 0);
  const json file = parsed(run);
  EXPECT_EQ(file["version"], 3);
  EXPECT_EQ(file["architecture"], "test");
  EXPECT_EQ(file["file"], "model.gguf");
  EXPECT_EQ(file["bytes"], gguf::test::sample_file().size());
  EXPECT_EQ(file["parameters"], 96 + 5 + 0 + 1);
  const json& metadata = file["metadata"];
  EXPECT_EQ(metadata.size(), 25u);
  EXPECT_EQ(metadata["u64"], uint64_t(1) << 63);
  EXPECT_EQ(metadata["i64"], -(int64_t(1) << 62));
  EXPECT_EQ(metadata["f32"], 1.5);
  EXPECT_EQ(metadata["true"], true);
  EXPECT_EQ(metadata["u8s"], json({1, 2, 255}));
  EXPECT_EQ(metadata["booleans"], json({false, true, true}));
  EXPECT_EQ(metadata["strings"], json({"a", "", "\xef\xbf\xbd\n"})) << "bytes that are not UTF-8 become U+FFFD";
  ASSERT_EQ(file["tensors"].size(), 4u);
  const json& matrix = file["tensors"][0];
  EXPECT_EQ(matrix["name"], "matrix");
  EXPECT_EQ(matrix["format"], "q8_0");
  EXPECT_EQ(matrix["shape"], json({32, 3}));
  EXPECT_EQ(matrix["bytes"], 102);
  const auto sample = *gguf::File::open(path_);
  EXPECT_EQ(matrix["offset"], sample->tensor("matrix")->file_offset);
  EXPECT_EQ(file["formats"], json({{{"format", "f32"}, {"tensors", 1}, {"bytes", 20}, {"bits_per_weight", 32.0}},
                                   {{"format", "f16"}, {"tensors", 1}, {"bytes", 0}, {"bits_per_weight", 16.0}},
                                   {{"format", "q8_0"}, {"tensors", 1}, {"bytes", 102}, {"bits_per_weight", 8.5}},
                                   {{"format", "i32"}, {"tensors", 1}, {"bytes", 4}, {"bits_per_weight", 32.0}}}));
  EXPECT_EQ(file["checked"], false);
  EXPECT_EQ(file["faults"], json::array());
}

TEST_F(Inspect, FloatsInTheirShortestForm) {
  RawBytes raw;
  raw.header(0, 2).key("epsilon", ValueType::f32).put(1e-5f).key("nan", ValueType::f32).put(std::nanf(""));
  const Outcome run = run_program({"inspect", write(raw), "--output", "json"});
  EXPECT_THAT(run.out, HasSubstr("\"epsilon\": 1e-05"));
  EXPECT_TRUE(parsed(run)["metadata"]["nan"].is_null());
  EXPECT_TRUE(parsed(run)["architecture"].is_null());
}

TEST_F(Inspect, TextListsTensorsOnlyWhenAsked) {
  const std::string path = write(gguf::test::sample_file());
  const Outcome brief = run_program({"inspect", path});
  EXPECT_EQ(brief.exit_code, 0);
  EXPECT_THAT(brief.out, StartsWith("model.gguf: GGUF version 3, architecture test, 102 parameters"));
  EXPECT_THAT(brief.out, Not(HasSubstr("32 × 3")));
  const Outcome full = run_program({"inspect", "-m", path, "--tensors"});
  EXPECT_THAT(full.out, HasSubstr("32 × 3"));
  EXPECT_THAT(full.out, HasSubstr("scalar"));
  EXPECT_EQ(full.err, "");
}

TEST_F(Inspect, CsvIsOneTable) {
  const std::string path = write(gguf::test::sample_file());
  EXPECT_THAT(run_program({"inspect", path, "--output", "csv"}).out,
              StartsWith("format,tensors,bytes,bits_per_weight\nf32,1,20,32.0\n"));
  EXPECT_THAT(run_program({"inspect", path, "--tensors", "--output", "csv"}).out,
              StartsWith("name,format,shape,bytes,offset\nmatrix,q8_0,\"[32,3]\",102,"));
}

TEST_F(Inspect, TerminalSequencesInAFileDoNotReachTheTerminal) {
  RawBytes raw;
  raw.header(1, 1)
      .key("k\x1b[2J", ValueType::string)
      .string("\x1b]0;title\x07")
      .tensor("t\x1b[31m", {1}, 0, 0)
      .pad()
      .fill(4);
  const std::string path = write(raw);
  for (const char* output : {"text", "md"}) {
    const Outcome run = run_program({"inspect", path, "--tensors", "--output", output});
    EXPECT_THAT(run.out, Not(HasSubstr("\x1b"))) << output;
    EXPECT_THAT(run.out, HasSubstr("t\\x1b[31m")) << output;
  }
}

TEST_F(Inspect, BrokenFileFails) {
  std::filesystem::resize_file(write(gguf::test::sample_file()), 500);
  for (const char* output : {"text", "json"}) {
    const Outcome run = run_program({"inspect", path_.string(), "--output", output});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, StartsWith("soffit: error: "));
    EXPECT_THAT(run.err, HasSubstr("model.gguf"));
  }
}

TEST_F(Inspect, MissingFileFailsAndNoFileIsWrongUsage) {
  const Outcome missing = run_program({"inspect", (directory_ / "absent.gguf").string()});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("absent.gguf"));
  EXPECT_EQ(run_program({"inspect"}).exit_code, 2);
  EXPECT_EQ(run_program({"inspect", "--output", "xml", path_.string()}).exit_code, 2);
}

// auto-round #1908: 17 of 2.9 million blocks had a NaN scale.
TEST_F(Inspect, CheckCountsNonFiniteScalesAndValuesByTensor) {
  constexpr int64_t kBlocks = 300'000;  // more than one piece of work, not a multiple of anything
  RawBytes raw;
  const uint64_t second = (kBlocks * 34 + 31) / 32 * 32;
  raw.header(4, 0).tensor("scales", {32, kBlocks}, 8, 0).tensor("values", {64}, 1, second);
  raw.tensor("good", {4}, 0, second + 128).tensor("foreign", {256}, 16, second + 160).pad();
  const auto put_block = [&](uint16_t scale) { raw.put(scale).fill(32, 1); };
  for (int64_t i = 0; i < kBlocks; i++) put_block(i == 123'457 || i == kBlocks - 1 ? 0x7e00 : 0x3c00);
  raw.pad();
  for (int i = 0; i < 64; i++) raw.put(uint16_t(i == 7 ? 0x7c00 : i == 9 ? 0xfc00 : 0x0001));
  raw.pad().put(1.f).put(-0.f).put(1e-45f).put(3e38f).pad().fill(66).pad();
  const std::string path = write(raw);

  for (const char* threads : {"1", "4"}) {
    const Outcome run = run_program({"inspect", path, "--check", "--output", "json", "-t", threads});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("foreign is not checked: iq2_xxs"));
    const json file = json::parse(run.out);
    EXPECT_EQ(file["checked"], true);
    EXPECT_EQ(file["unchecked"], json({"foreign"}));
    ASSERT_EQ(file["faults"].size(), 2u);
    EXPECT_EQ(file["faults"][0]["tensor"], "scales");
    EXPECT_EQ(file["faults"][0]["blocks"], 2);
    EXPECT_EQ(file["faults"][0]["values"], 64);
    EXPECT_EQ(file["faults"][0]["first_block"], 123'457);
    EXPECT_EQ(file["faults"][1]["tensor"], "values");
    EXPECT_EQ(file["faults"][1]["values"], 2);
    EXPECT_EQ(file["faults"][1]["first_block"], 7);
  }
  EXPECT_EQ(run_program({"inspect", path}).exit_code, 0) << "not without --check";
}

TEST_F(Inspect, CheckOfAGoodFile) {
  RawBytes raw;
  raw.header(1, 0).tensor("extra.tensor.nobody.knows", {32}, 8, 0).pad().put(uint16_t(0x3c00)).fill(32, 0x80);
  const Outcome run = run_program({"inspect", write(raw), "--check"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("1 tensors checked, no faults"));
}

TEST_F(Inspect, SplitModel) {
  const RawBytes raw = gguf::test::sample_file();
  const auto status = gguf::test::split_model(**gguf::File::parse(raw.bytes(), ""), directory_ / "split", 2);
  ASSERT_TRUE(status) << status.error().message;
  const json file =
      parsed(run_program({"inspect", (directory_ / "split-00002-of-00002.gguf").string(), "--output", "json"}));
  EXPECT_EQ(file["parts"], 2);
  EXPECT_EQ(file["architecture"], "test");
  ASSERT_EQ(file["tensors"].size(), 4u);
  EXPECT_EQ(file["tensors"][3]["part"], 2);
}

TEST_F(Inspect, ColoursOnATerminalUnlessNoColor) {
  const std::string path = write(gguf::test::sample_file());
  const auto on_terminal = [&](const char* no_color) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const Outcome run = run_program(
        {"inspect", path}, {.out_path = ptsname(terminal), .environment = {{"TERM", "xterm"}, {"NO_COLOR", no_color}}});
    EXPECT_EQ(run.exit_code, 0);
    std::string text(65536, '\0');
    const ssize_t count = read(terminal, text.data(), text.size());
    close(terminal);
    text.resize(size_t(std::max<ssize_t>(count, 0)));
    return text;
  };
  EXPECT_THAT(on_terminal(""), HasSubstr("\x1b[1m"));
  const std::string plain = on_terminal("1");
  EXPECT_THAT(plain, HasSubstr("model.gguf"));
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace soffit::test
