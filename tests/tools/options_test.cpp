#include "options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <limits>

namespace soffit::tool {
namespace {

TEST(ParseSize, PowersOfAThousand) {
  EXPECT_EQ(*parse_size("0"), 0);
  EXPECT_EQ(*parse_size("4096"), 4096);
  EXPECT_EQ(*parse_size("1K"), 1000);
  EXPECT_EQ(*parse_size("2m"), 2'000'000);
  EXPECT_EQ(*parse_size("3G"), 3'000'000'000);
  EXPECT_EQ(*parse_size("1.5M"), 1'500'000);
  EXPECT_EQ(*parse_size("0.001K"), 1);
  EXPECT_EQ(*parse_size("2.000"), 2);
  EXPECT_EQ(*parse_size("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(ParseSize, RefusesWhatIsNoWholeNumber) {
  for (const char* text : {"", "K", "-1", "+1", "1.5", "1.0001K", "1.", ".5K", "1KB", "1 K", "0x10", "1e3", "1,5K", "٣",
                           "9223372036854775808", "9223372036854775807K"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().code, Code::invalid_argument);
    EXPECT_THAT(size.error().message, testing::HasSubstr(text));
  }
}

void parse(CLI::App& app, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "soffit");
  std::vector<std::string> normalised = normalised_arguments(int(arguments.size()), arguments.data());
  std::reverse(normalised.begin(), normalised.end());
  app.parse(normalised);
}

TEST(Options, SizeListsAreSeparatedByCommasAndLeaveThePositionals) {
  CLI::App app;
  std::vector<int64_t> sizes = {7};
  std::string file;
  add_sizes(app, "-p", sizes, "");
  app.add_option("file", file);
  parse(app, {"-p", "1,512,4K", "model.gguf"});
  EXPECT_THAT(sizes, testing::ElementsAre(1, 512, 4000));
  EXPECT_EQ(file, "model.gguf");
  EXPECT_THROW(parse(app, {"-p", "1,,2"}), CLI::ParseError);
  EXPECT_THROW(parse(app, {"-p", "1,x"}), CLI::ParseError);
}

TEST(Options, CommonOnes) {
  CLI::App app;
  CommonOptions options;
  add_common_options(app, options);
  parse(app, {"-m", "a.gguf", "-t", "3", "-ngl", "12", "--isa", "avx2", "--exact", "--seed", "18446744073709551615",
              "--output", "json"});
  EXPECT_EQ(options.model, "a.gguf");
  EXPECT_EQ(options.threads, 3);
  EXPECT_EQ(options.gpu_layers, 12);
  EXPECT_EQ(options.isa, "avx2");
  EXPECT_TRUE(options.exact);
  EXPECT_EQ(options.seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(options.output, Output::json);
  parse(app, {"-ngl=3"});
  EXPECT_EQ(options.gpu_layers, 3);
}

TEST(Options, UnknownNamesAreRefusedWithTheList) {
  for (const auto& [option, value, listed] :
       {std::tuple("--backend", "vulkan", "metal-lanes"), std::tuple("--isa", "sse2", "avx_vnni"),
        std::tuple("--output", "xml", "csv"), std::tuple("--output", "2", "csv")}) {
    CLI::App app;
    CommonOptions options;
    add_common_options(app, options);
    try {
      parse(app, {option, value});
      ADD_FAILURE() << option << " " << value << " was accepted";
    } catch (const CLI::ParseError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(listed));
    }
  }
}

// What a parser that reads as far as it can makes of them: 0, 1, another number modulo 2^32, infinity.
TEST(Options, NumbersAreTheWholeTextOrRefused) {
  int32_t whole = 5;
  float number = 0.5f;
  int64_t size = 7;
  CLI::App app;
  add_whole(app, "--whole", whole, "", 0, 100);
  add_number(app, "--number", number, "");
  add_size(app, "--size", size, "", 1, 1000);
  for (const char* text : {"", " ", "x", "1x", "1 ", "1.5", "-1", "101", "4294967297", "0x10", "1e1"}) {
    EXPECT_THROW(parse(app, {"--whole", text}), CLI::ValidationError) << "'" << text << "'";
  }
  for (const char* text : {"", " ", "x", "1x", "1e400", "nan", "inf", "1,5", "0x10"}) {
    EXPECT_THROW(parse(app, {"--number", text}), CLI::ValidationError) << "'" << text << "'";
  }
  for (const char* text : {"", "0", "1001", "2K", "-1"}) {
    EXPECT_THROW(parse(app, {"--size", text}), CLI::ValidationError) << "'" << text << "'";
  }
  parse(app, {"--whole", "100", "--number", "-1.5e-1", "--size", "1K"});
  EXPECT_EQ(whole, 100);
  EXPECT_EQ(number, -0.15f);
  EXPECT_EQ(size, 1000);
}

TEST(Options, RefusalsQuoteTheValueAndSayWhatThereIs) {
  const auto refusal = [](const char* option, const char* value) -> std::string {
    CLI::App app;
    CommonOptions options;
    int64_t repetitions = 3;
    add_common_options(app, options);
    add_size(app, "-r,--repetitions", repetitions, "", 1, 1000);
    try {
      parse(app, {option, value});
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("--output", "foo"), "--output: there is no 'foo'; there are text, md, csv, json");
  EXPECT_EQ(refusal("-r", "0"), "--repetitions: '0' is not from 1 to 1000");
  EXPECT_EQ(refusal("-t", "\x1b[2J"), "--threads: '\\x1b[2J' is not a whole number from 1 to 4096");
  EXPECT_EQ(refusal("-m", ""), "--model: an empty name");
}

TEST(Options, SeedsAreWholeNumbersFrom0On) {
  for (const char* seed : {"-1", "", "x", "1.5", "0x10", "18446744073709551616"}) {
    CLI::App app;
    CommonOptions options;
    add_common_options(app, options);
    EXPECT_THROW(parse(app, {"--seed", seed}), CLI::ParseError) << seed;
  }
}

TEST(Options, ModelIsRequiredWhereAsked) {
  CLI::App app;
  CommonOptions options;
  add_common_options_with_model(app, options);
  EXPECT_THROW(parse(app, {"-t", "1"}), CLI::RequiredError);
  EXPECT_THROW(parse(app, {"-m", "x", "-t", "0"}), CLI::ValidationError);
}

TEST(Options, WordsWithOneDashEndAtTwoDashes) {
  const char* argv[] = {"soffit", "-cnv", "-n", "--", "-cnv", "-ngl"};
  EXPECT_THAT(normalised_arguments(6, argv), testing::ElementsAre("--cnv", "-n", "--", "-cnv", "-ngl"));
}

}  // namespace
}  // namespace soffit::tool
