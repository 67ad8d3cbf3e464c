// soffit tokenize and detokenize, on a small vocabulary written here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"
#include "soffit/gguf.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Tokenize : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path = testing::TempDir() + "soffit_" + test->name() + ".gguf";
    // All 256 bytes, three control tokens, one word, the space.
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
    std::vector<int32_t> types = {2, 3, 3};
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", byte);
      tokens.push_back(name), types.push_back(6);
    }
    tokens.insert(tokens.end(), {"h", "i", "hi", "\u2581"}), types.insert(types.end(), {1, 1, 1, 1});
    auto writer = gguf::Writer::create(path);
    ASSERT_TRUE(writer) << writer.error().message;
    const std::pair<const char*, gguf::OwnedValue> keys[] = {{"tokenizer.ggml.model", std::string("llama")},
                                                             {"tokenizer.ggml.tokens", gguf::Array(tokens)},
                                                             {"tokenizer.ggml.token_type", gguf::Array(types)},
                                                             {"tokenizer.ggml.add_space_prefix", false}};
    for (const auto& [key, value] : keys) ASSERT_TRUE((*writer)->add(key, value));
    ASSERT_TRUE((*writer)->finish());
  }
  void TearDown() override { std::remove(path.c_str()); }

  Outcome run(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.begin() + 1, {"-m", path});
    return run_program(arguments, options);
  }

  std::string path;
};

TEST_F(Tokenize, PrintsIds) {
  EXPECT_EQ(run({"tokenize", "-p", "hi"}).out, "261\n");
  EXPECT_EQ(run({"tokenize", "-p", ""}).out, "\n");
  EXPECT_EQ(run({"tokenize"}, {.input = "hih"}).out, "261 259\n");
  EXPECT_EQ(run({"tokenize", "-p", "hi", "--bos"}).out, "1 261\n");
  EXPECT_EQ(run({"tokenize", "-p", "hi", "--bos", "--output", "json"}).out, "[1,261]\n");
  EXPECT_EQ(run({"tokenize", "-p", "hi</s>"}).out, "261 2\n");
  EXPECT_EQ(run({"tokenize", "-p", "</s>", "--no-special"}).out, "63 50 118 65\n");
  const Outcome csv = run({"tokenize", "-p", "hi\n", "--output", "csv"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr("261,hi"), HasSubstr("13,\\n")));
  EXPECT_EQ(csv.err, "");
}

TEST_F(Tokenize, DetokenizeGivesEveryByteBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(char(byte));
  bytes += "hi</s>\n\n";
  for (const char* output : {"text", "json"}) {
    const Outcome ids = run({"tokenize", "--output", output}, {.input = bytes});
    ASSERT_EQ(ids.exit_code, 0) << ids.err;
    EXPECT_EQ(run({"detokenize"}, {.input = ids.out}).out, bytes);
  }
  EXPECT_EQ(run({"detokenize", "1", "261", "2"}).out, "<s>hi</s>");
  EXPECT_EQ(run({"detokenize", "1,261", "2", "--no-special"}).out, "hi");
  EXPECT_EQ(run({"detokenize", "[261, 12]", "--output", "json"}).out, "\"hi\\t\"\n");
  EXPECT_EQ(run({"detokenize"}, {.input = ""}).out, "");
}

TEST_F(Tokenize, FaultsHaveTheirExitCodes) {
  Outcome outcome = run({"detokenize", "263"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("263"), HasSubstr("263 tokens")));
  outcome = run({"detokenize", "12x"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("'12x'"));
  outcome = run({"detokenize", "99999999999"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  outcome = run_program({"tokenize", "-p", "hi"});
  EXPECT_EQ(outcome.exit_code, 2);
  outcome = run_program({"tokenize", "-p", "hi", "-m", path + ".missing"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(".missing"));
}

}  // namespace
}  // namespace soffit::test
