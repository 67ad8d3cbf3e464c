// run, bench and perplexity, as a user runs them, on a small synthetic model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model_file.hpp"
#include "program.hpp"

namespace soffit::test {
namespace {

using Json = nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class ModelCommands : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::filesystem::path(testing::TempDir()) / ("soffit_commands_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    ModelFile file = ModelFile::llama();
    file.add_tokenizer();
    file.write(path("model.gguf"));
    ModelFile more = file;
    more.tensors["blk.0.unheard_of.weight"] = {{8, 8}};
    more.write(path("more_tensors.gguf"));
    file.keys[".tokenizer.chat_template"] = std::string("{% unheard_of %}");
    file.write(path("unknown_template.gguf"));
    file.keys[".tokenizer.chat_template"] = std::string(
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
        "'\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
    file.write(path("chat.gguf"));
    file.architecture = "unheard_of";
    file.write(path("architecture.gguf"));
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static std::string path(const std::string& name) { return (folder_ / name).string(); }
  static std::string write(const std::string& name, const std::string& text) {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  // Greedy, in one thread, of a model of random weights: ends never.
  static Outcome run(std::vector<std::string> arguments, const RunOptions& options = {},
                     const std::string& model = "model.gguf") {
    std::vector<std::string> all = {"run", "-m", path(model), "--temp", "0", "-t", "1", "--ignore-eos"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_program(all, options);
  }

  static std::filesystem::path folder_;
};
std::filesystem::path ModelCommands::folder_;

TEST_F(ModelCommands, RunPrintsOnlyTheTextOnStdout) {
  const Outcome text = run({"-p", "Hello", "-n", "8"}), json = run({"-p", "Hello", "-n", "8", "--output", "json"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(text.out, std::string(Json::parse(json.out)["text"]));
  EXPECT_THAT(text.err, HasSubstr("prompt 6 tokens"));
  EXPECT_THAT(text.err, HasSubstr("generated 8 tokens"));
}

TEST_F(ModelCommands, RunHasEveryField) {
  const Json report = Json::parse(run({"-p", "Hello", "-n", "8", "--output", "json", "--seed", "7"}).out);
  for (const char* field : {"text", "tokens", "prompt_tokens", "generated_tokens", "stop", "load_seconds",
                            "first_token_seconds", "prompt_tokens_per_second", "tokens_per_second", "bytes_per_token",
                            "roof_fraction", "peak_resident_bytes", "file_bytes", "provenance"}) {
    EXPECT_TRUE(report.contains(field)) << field;
  }
  EXPECT_EQ(report["prompt_tokens"], 6);  // with <s>
  EXPECT_EQ(report["generated_tokens"], 8);
  EXPECT_EQ(report["tokens"].size(), 8u);
  EXPECT_EQ(report["stop"], "length");
  EXPECT_EQ(report["seed"], 7);
  EXPECT_EQ(report["file_bytes"], std::filesystem::file_size(path("model.gguf")));
  EXPECT_GT(report["tokens_per_second"], 0.0);
  EXPECT_GT(report["roof_fraction"], 0.0);
  EXPECT_GT(report["first_token_seconds"], 0.0);
}

TEST_F(ModelCommands, RunReadsAFileOrStandardInput) {
  const std::string expected = run({"-p", "Hello\nyou", "-n", "8"}).out;
  EXPECT_EQ(run({"-n", "8"}, {.input = "Hello\nyou"}).out, expected);
  EXPECT_EQ(run({"-n", "8", "-f", write("prompt", "Hello\nyou")}).out, expected);
  const Outcome missing = run({"-f", path("nothing")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nothing"));
  const Outcome folder = run({"-f", folder_.string()});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_THAT(folder.err, HasSubstr("cannot read '" + folder_.string() + "'"));
}

TEST_F(ModelCommands, EqualSeedsGiveEqualTextOnAnyThreadCount) {
  const auto sampled = [](const char* seed, const char* threads) {
    return run_program({"run", "-m", path("model.gguf"), "-p", "Hello", "-n", "30", "--ignore-eos", "--temp", "1.5",
                        "--seed", seed, "-t", threads})
        .out;
  };
  const std::string expected = sampled("1", "1");
  EXPECT_EQ(sampled("1", "1"), expected);
  EXPECT_EQ(sampled("1", "2"), expected);
  EXPECT_EQ(sampled("1", "3"), expected);
  EXPECT_NE(sampled("2", "1"), expected);
}

TEST_F(ModelCommands, WhatMakesNoSenseIsWrongUsage) {
  const auto refusal = [](std::vector<std::string> arguments) {
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(refusal({"-p", "a", "--system", "b"}), HasSubstr("--system needs --chat or -cnv"));
  EXPECT_THAT(refusal({"-p", "a", "--chat", "-cnv"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refusal({"-cnv", "--output", "json"}), HasSubstr("-cnv"));
  EXPECT_THAT(refusal({"-p", "a", "--output", "csv"}), HasSubstr("text and json"));
  EXPECT_THAT(refusal({"-p", "a", "--top-p", "-1"}), HasSubstr("top"));
  EXPECT_THAT(refusal({"-p", "a", "-ngl", "3"}), HasSubstr("-ngl"));
  EXPECT_THAT(refusal({"-p", std::string(50, 'a'), "-c", "20"}), HasSubstr("51 tokens and the context 20 positions"));
}

TEST_F(ModelCommands, UnknownArchitecturesAndTemplatesAreNamed) {
  const Outcome architecture = run({"-p", "a"}, {}, "architecture.gguf");
  EXPECT_EQ(architecture.exit_code, 2);
  EXPECT_THAT(architecture.err, HasSubstr("'unheard_of'"));
  EXPECT_THAT(architecture.err, HasSubstr("llama, qwen2"));
  for (const char* mode : {"--chat", "-cnv"}) {
    const Outcome unknown = run({mode}, {.input = "a"}, "unknown_template.gguf");
    EXPECT_EQ(unknown.exit_code, 2) << mode;
    EXPECT_THAT(unknown.err, HasSubstr("template"));
  }
}

// What a file says is shown on a terminal: it must neither clear it nor write lines that look like the program's.
TEST_F(ModelCommands, NamesOutOfFilesAreShownWithoutControlCharacters) {
  const std::string evil = "\x1b[2J\x1b]0;title\x07\nsoffit: done\r\x7f\xff", shown = "\\x1b[2J\\x1b]0;title\\x07\\n";
  ModelFile architecture = ModelFile::llama();
  architecture.add_tokenizer();
  ModelFile tokenizer = architecture, pre = architecture, scaling = architecture, tensor = architecture;
  architecture.architecture = evil;
  tokenizer.keys[".tokenizer.ggml.model"] = evil;
  pre.keys[".tokenizer.ggml.model"] = std::string("gpt2");
  pre.keys[".tokenizer.ggml.merges"] = gguf::Array(std::vector<std::string>());
  pre.keys[".tokenizer.ggml.pre"] = evil;
  scaling.keys["rope.scaling.type"] = evil;
  tensor.tensors[evil] = {{8, 8}};
  for (const ModelFile& file : {architecture, tokenizer, pre, scaling, tensor}) {
    file.write(path("evil.gguf"));
    const Outcome outcome = run({"-p", "a", "-n", "1"}, {}, "evil.gguf");
    EXPECT_THAT(outcome.err, HasSubstr(shown));
    EXPECT_THAT(outcome.err, Not(testing::ContainsRegex("[\x1b\x07\r\x7f\xff]")));
    EXPECT_THAT(outcome.err, Not(HasSubstr("\nsoffit: done")));
  }
}

TEST_F(ModelCommands, AnArchitectureOfAnotherTypeIsNamedWithBothTypes) {
  const auto writer = gguf::Writer::create(path("typed.gguf"));
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->add("general.architecture", gguf::OwnedValue(uint32_t(7))));
  ASSERT_TRUE((*writer)->finish());
  const Outcome outcome = run({"-p", "a"}, {}, "typed.gguf");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("key 'general.architecture': a value of type u32, not a string"));
}

TEST_F(ModelCommands, ChatIsTheTemplateAroundTheText) {
  const std::string raw =
      "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n";
  EXPECT_EQ(run({"--chat", "-p", "Hello", "--system", "Be kind.", "-n", "6"}, {}, "chat.gguf").out,
            run({"-p", raw, "-n", "6"}).out);
}

TEST_F(ModelCommands, AConversationAnswersEachLine) {
  const Outcome talk = run({"-cnv", "-n", "5", "-c", "256"}, {.input = "Hello\n\nAgain\n"}, "chat.gguf");
  EXPECT_EQ(talk.exit_code, 0) << talk.err;
  const std::string first = run({"--chat", "-p", "Hello", "-n", "5"}, {}, "chat.gguf").out;
  ASSERT_THAT(talk.out, StartsWith(first + "\n"));
  const std::string raw = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n" + first +
                          "<|im_end|>\n<|im_start|>user\nAgain<|im_end|>\n<|im_start|>assistant\n";
  EXPECT_EQ(talk.out, first + "\n" + run({"-p", raw, "-n", "5"}).out + "\n");
}

TEST_F(ModelCommands, AReaderThatGoesAwayEndsTheAnswer) {
  const Outcome closed = run({"-p", "Hello", "-n", "100"}, {.close_reader = true});
  EXPECT_EQ(closed.exit_code, 1);
  EXPECT_THAT(closed.err, Not(HasSubstr("generated 100")));
}

TEST_F(ModelCommands, WithoutHugePagesItSaysSoAndWritesTheSame) {
  const Outcome usual = run({"-p", "Hello", "-n", "8"}),
                small = run({"-p", "Hello", "-n", "8"}, {.no_huge_pages = true});
  ASSERT_EQ(small.exit_code, 0) << small.err;
  EXPECT_EQ(small.out, usual.out);
  EXPECT_THAT(small.err, HasSubstr("small pages"));
}

TEST_F(ModelCommands, WithLittleMemoryWeightsAreUsedAsTheyLieInTheFile) {
  if (!kCanLimitAddressSpace) GTEST_SKIP() << "a sanitizer maps terabytes";
  const Outcome usual = run({"-p", "Hello", "-n", "8"});
  const Outcome little = run({"-p", "Hello", "-n", "8"}, {.address_space = 60'000'000});
  ASSERT_EQ(little.exit_code, 0) << little.err;
  EXPECT_EQ(little.out, usual.out);
  EXPECT_THAT(little.err, HasSubstr("as they lie in the file"));
  const Outcome none = run({"-p", "Hello", "-n", "8", "-c", "2000000"}, {.address_space = 60'000'000});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("bytes"));
}

TEST_F(ModelCommands, BenchHasARowForEachTest) {
  const Outcome outcome = run_program({"bench", "-m", path("model.gguf") + "," + path("chat.gguf"), "-p", "8,24", "-n",
                                       "4", "-d", "0,16", "-r", "2", "-t", "1", "--output", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 12u);
  for (const Json& row : rows) {
    for (const char* field : {"model", "backend", "isa", "threads", "layout", "test", "depth", "repetitions",
                              "tokens_per_second", "stddev", "bytes_per_token", "gb_per_second", "roof_gb_per_second",
                              "roof_fraction", "gflops", "linear_seconds", "other_seconds", "barriers", "provenance"}) {
      EXPECT_TRUE(row.contains(field)) << field;
    }
    EXPECT_GT(row["tokens_per_second"], 0.0);
    EXPECT_GT(row["linear_seconds"], 0.0);
    EXPECT_GT(row["other_seconds"], 0.0);
    EXPECT_EQ(row["repetitions"], 2);
  }
  EXPECT_EQ(rows[0]["test"], "pp8");
  EXPECT_EQ(rows[2]["test"], "tg4");
  EXPECT_EQ(rows[5]["depth"], 16);
  EXPECT_EQ(rows[11]["model"], "chat.gguf");
  // Single tokens read everything for each, keys and values at their depth; a prompt reads the weights once.
  EXPECT_GT(double(rows[2]["bytes_per_token"]), 3.9 * double(rows[0]["bytes_per_token"]));
  EXPECT_GT(double(rows[5]["bytes_per_token"]), double(rows[2]["bytes_per_token"]));
}

// llama.cpp #22049: counters went on from test to test.
TEST_F(ModelCommands, BenchCountsTheSameForTheSameTest) {
  const Outcome outcome = run_program({"bench", "-m", path("model.gguf"), "-p", "8,8", "-n", "4,4", "-d", "16", "-r",
                                       "1", "-t", "2", "--output", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 4u);
  for (const size_t first : {0, 2}) {
    for (const char* count : {"test", "depth", "bytes_per_token", "barriers", "layout"}) {
      EXPECT_EQ(rows[first][count], rows[first + 1][count]) << count;
    }
    EXPECT_GT(rows[first]["barriers"], 0);
    EXPECT_GT(rows[first]["barrier_seconds"], 0.0);
    EXPECT_EQ(rows[first]["first_pass_ratio"], 1.0) << "of one pass";
  }
}

TEST_F(ModelCommands, TensorsThatNobodyReadsAreNamedAndNotFatal) {
  const Outcome text = run({"-p", "Hello", "-n", "2"}, {}, "more_tensors.gguf");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.err, HasSubstr("1 tensors of the file are not used: blk.0.unheard_of.weight"));
  const Outcome listed = run_program({"inspect", path("more_tensors.gguf"), "--tensors", "--check"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("blk.0.unheard_of.weight"));
}

TEST_F(ModelCommands, BenchWithoutATestIsWrongUsage) {
  EXPECT_EQ(run_program({"bench", "-m", path("model.gguf"), "-p", "0", "-n", "0"}).exit_code, 2);
  EXPECT_EQ(run_program({"bench", "-m", path("model.gguf"), "-r", "0"}).exit_code, 2);
}

// Measured first, the file that is there would take days.
TEST_F(ModelCommands, BenchOpensEveryFileBeforeItMeasures) {
  for (const char* other : {"nothing.gguf", "architecture.gguf"}) {
    const Outcome outcome = run_program({"bench", "-m", path("model.gguf") + "," + path(other), "-r", "1000000"});
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(other));
  }
}

TEST_F(ModelCommands, BenchCanBeInterrupted) {
  for (const std::vector<std::string>& test : {std::vector<std::string>{"-d", "100K", "-r", "1"}, {"-r", "1000000"}}) {
    std::vector<std::string> arguments = {"bench", "-m", path("model.gguf"), "-t", "1"};
    arguments.insert(arguments.end(), test.begin(), test.end());
    const Outcome outcome = run_program(arguments, {.signal = SIGINT, .signal_after = std::chrono::milliseconds(400)});
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(ModelCommands, BenchRefusesADepthThatMemoryCannotHold) {
  const Outcome outcome = run_program({"bench", "-m", path("model.gguf"), "-d", "100G"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("for keys and values"));
}

// At whatever moment of loading, its last included: no text comes after it.
TEST_F(ModelCommands, CtrlCWhileLoadingEndsTheProgram) {
  ModelFile file = ModelFile::llama();
  file.add_tokenizer();
  std::vector<std::string> words;
  for (int i = 0; i < 300'000; i++) words.push_back("word" + std::to_string(i));
  file.keys[".test.words"] = gguf::Array(words);
  file.write(path("slow.gguf"));
  for (const int milliseconds : {1, 3, 6, 10, 15, 20, 30}) {
    const Outcome outcome =
        run({"-p", "Hello", "-n", "3000", "-c", "4K"},
            {.signal = SIGINT, .signal_after = std::chrono::milliseconds(milliseconds)}, "slow.gguf");
    EXPECT_TRUE(outcome.exit_code == 130 || outcome.signal == SIGINT) << outcome.err;
  }
}

TEST_F(ModelCommands, SavedLogitsNeverReplaceWhatIsRead) {
  const std::string text = write("input", std::string(100, 'a')), link = path("link"), hard = path("hard");
  std::filesystem::create_symlink(text, link);
  std::filesystem::create_hard_link(path("model.gguf"), hard);
  const auto size = std::filesystem::file_size(path("model.gguf"));
  for (const std::string& output : {text, path("model.gguf"), link, hard, folder_.string() + "/./input"}) {
    const Outcome outcome =
        run_program({"perplexity", "-m", path("model.gguf"), "-f", text, "-c", "8", "--save-logits", output});
    EXPECT_EQ(outcome.exit_code, 2) << output;
    EXPECT_THAT(outcome.err, HasSubstr("which is read"));
  }
  EXPECT_EQ(std::filesystem::file_size(text), 100u);
  EXPECT_EQ(std::filesystem::file_size(path("model.gguf")), size);
}

TEST_F(ModelCommands, PerplexityAndDivergence) {
  std::string text;
  for (int i = 0; i < 300; i++) text += char(' ' + i * 31 % 90);
  const std::string file = write("text", text), base = path("base");
  const auto perplexity = [&](std::vector<std::string> more) {
    std::vector<std::string> all = {"perplexity", "-m", path("model.gguf"), "-f", file, "--output", "json"};
    all.insert(all.end(), more.begin(), more.end());
    return run_program(all);
  };
  const Outcome saved = perplexity({"-c", "32", "--save-logits", base});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  const Json first = Json::parse(saved.out);
  EXPECT_EQ(first["chunks"].size(), 9u);
  EXPECT_EQ(first["tokens"], 9 * 15);
  EXPECT_EQ(first["perplexity"], first["chunks"][8]);
  EXPECT_GT(first["stderr"], 0.0);
  EXPECT_TRUE(first["kl_mean"].is_null());

  const Json same = Json::parse(perplexity({"-c", "32", "--kl-against", base}).out);
  EXPECT_EQ(same["perplexity"], first["perplexity"]);
  EXPECT_LT(std::abs(double(same["kl_mean"])), 1e-6);
  EXPECT_GE(same["kl_stderr"], 0.0);
  EXPECT_LT(double(same["kl_stderr"]), 1e-6);
  EXPECT_EQ(same["same_top"], 1.0);
  const Json part = Json::parse(perplexity({"-c", "32", "--kl-against", base, "--chunks", "2"}).out);
  EXPECT_EQ(part["chunks"].size(), 2u);
  EXPECT_EQ(part["perplexity"], first["chunks"][1]);

  const Outcome none = perplexity({"-c", "32", "--chunks", "0"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--chunks: '0' is less than 1"));

  const Outcome window = perplexity({"--kl-against", base, "-c", "16"});
  EXPECT_EQ(window.exit_code, 2);
  EXPECT_THAT(window.err, HasSubstr("windows of 32 tokens"));
  write("text", "x" + text);
  const Outcome other = perplexity({"-c", "32", "--kl-against", base});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("another text"));
  write("text", "short");
  const Outcome few = perplexity({});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_THAT(few.err, HasSubstr("6 tokens"));
}

}  // namespace
}  // namespace soffit::test
