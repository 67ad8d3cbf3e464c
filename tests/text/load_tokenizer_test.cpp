// Tokenizer keys of GGUF files, right and wrong.
#include "text/load_tokenizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden.hpp"

namespace soffit::text::test {
namespace {

using gguf::Array;
using gguf::OwnedValue;
using Keys = std::vector<std::pair<std::string, OwnedValue>>;

// Writes a file with these keys and loads its vocabulary.
Result<Vocabulary> load(const Keys& keys) {
  const auto path =
      std::filesystem::path(testing::TempDir()) /
      (std::string("tokenizer_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".gguf");
  auto writer = gguf::Writer::create(path);
  EXPECT_TRUE(writer) << writer.error().message;
  for (const auto& [key, value] : keys) EXPECT_TRUE((*writer)->add(key, value));
  EXPECT_TRUE((*writer)->finish());
  auto file = gguf::File::open(path);
  EXPECT_TRUE(file) << file.error().message;
  auto vocabulary = load_vocabulary(**file);
  std::filesystem::remove(path);
  return vocabulary;
}

Keys base(const std::string& model = "gpt2") {
  Keys keys = {{"tokenizer.ggml.model", model},
               {"tokenizer.ggml.tokens", Array(std::vector<std::string>{"a", "b", "ab", "<s>"})}};
  if (model == "gpt2") {
    keys.push_back({"tokenizer.ggml.pre", std::string("gpt-2")});
    keys.push_back({"tokenizer.ggml.merges", Array(std::vector<std::string>{"a b"})});
  }
  return keys;
}

Keys with(Keys keys, const std::string& key, OwnedValue value) {
  std::erase_if(keys, [&](const auto& entry) { return entry.first == key; });
  keys.push_back({key, std::move(value)});
  return keys;
}

std::string message(const Keys& keys) {
  auto vocabulary = load(keys);
  return vocabulary ? "no error" : vocabulary.error().message;
}

using testing::AllOf;
using testing::HasSubstr;

TEST(LoadTokenizer, MissingKeysTakeTheirDefaults) {
  auto v = load(base());
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->pre, "gpt-2");
  EXPECT_EQ(v->size(), 4u);
  EXPECT_FALSE(v->ids.bos);  // the default of gpt2, 11, is outside this vocabulary
  EXPECT_FALSE(v->add_bos || v->add_eos || v->add_space_prefix || v->chat_template);
  EXPECT_TRUE(v->types.empty());
  v = load(base("llama"));
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->ids.bos, 1);
  EXPECT_EQ(v->ids.eos, 2);
  EXPECT_EQ(v->ids.unknown, 0);
}

TEST(LoadTokenizer, IdsOfAnyIntegerTypeAreRead) {
  Keys keys = base();
  keys = with(keys, "tokenizer.ggml.bos_token_id", uint32_t(3));
  keys = with(keys, "tokenizer.ggml.eos_token_id", int64_t(2));
  keys = with(keys, "tokenizer.ggml.eot_token_id", uint8_t(1));
  keys = with(keys, "tokenizer.ggml.token_type", Array(std::vector<int32_t>{1, 1, 4, 99}));
  keys = with(keys, "tokenizer.ggml.add_bos_token", true);
  keys = with(keys, "tokenizer.chat_template", std::string("{{ x }}"));
  auto v = load(keys);
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->ids.bos, 3);
  EXPECT_EQ(v->ids.eos, 2);
  EXPECT_EQ(v->ids.eot, 1);
  EXPECT_EQ(v->types[2], TokenType::user_defined);
  EXPECT_EQ(v->types[3], TokenType::undefined);
  EXPECT_EQ(v->add_bos, true);
  EXPECT_EQ(v->chat_template, "{{ x }}");
}

TEST(LoadTokenizer, IdsOutOfRangeAreLeftOutWithAWarning) {
  for (OwnedValue value : {OwnedValue(uint32_t(4)), OwnedValue(int32_t(-1)), OwnedValue(uint64_t(1) << 40)}) {
    auto v = load(with(base("llama"), "tokenizer.ggml.eos_token_id", value));
    ASSERT_TRUE(v) << v.error().message;
    EXPECT_EQ(v->ids.eos, 2);  // the default stays
    ASSERT_EQ(v->warnings.size(), 1u);
    EXPECT_THAT(v->warnings[0], AllOf(HasSubstr("eos_token_id"), HasSubstr("4 tokens")));
  }
}

TEST(LoadTokenizer, WhatIsNotSupportedIsNamedWithWhatIs) {
  EXPECT_THAT(message(with(base(), "tokenizer.ggml.model", std::string("bert"))),
              AllOf(HasSubstr("\"bert\""), HasSubstr("\"gpt2\""), HasSubstr("\"llama\"")));
  auto vocabulary = load(with(base(), "tokenizer.ggml.pre", std::string("martian")));
  ASSERT_TRUE(vocabulary);
  auto tokenizer = Tokenizer::create(*vocabulary);
  ASSERT_FALSE(tokenizer);
  EXPECT_THAT(tokenizer.error().message, AllOf(HasSubstr("\"martian\""), HasSubstr("smollm"), HasSubstr("qwen2")));
}

TEST(LoadTokenizer, FaultsNameTheKey) {
  EXPECT_THAT(message({}), HasSubstr("tokenizer.ggml.model is missing"));
  EXPECT_THAT(message({{"tokenizer.ggml.model", std::string("llama")}}), HasSubstr("tokenizer.ggml.tokens is missing"));
  Keys no_merges = base();
  no_merges.pop_back();
  EXPECT_THAT(message(no_merges), HasSubstr("tokenizer.ggml.merges is missing"));
  EXPECT_THAT(message(with(base(), "tokenizer.ggml.model", uint32_t(1))), HasSubstr("tokenizer.ggml.model"));
  EXPECT_THAT(message(with(base(), "tokenizer.ggml.tokens", std::string("a"))), HasSubstr("tokenizer.ggml.tokens"));
  EXPECT_THAT(message(with(base(), "tokenizer.ggml.merges", Array(std::vector<int32_t>{1}))),
              HasSubstr("tokenizer.ggml.merges"));
  EXPECT_THAT(message(with(base(), "tokenizer.ggml.add_bos_token", uint32_t(1))), HasSubstr("add_bos_token"));
  EXPECT_THAT(message(with(base(), "tokenizer.ggml.bos_token_id", std::string("1"))), HasSubstr("bos_token_id"));
  EXPECT_THAT(message(with(base(), "tokenizer.chat_template", uint32_t(1))), HasSubstr("tokenizer.chat_template"));
}

TEST(LoadTokenizer, ArraysMustAgreeInLength) {
  EXPECT_THAT(message(with(base("llama"), "tokenizer.ggml.scores", Array(std::vector<float>{1, 2, 3}))),
              AllOf(HasSubstr("scores has 3 entries"), HasSubstr("tokens has 4")));
  EXPECT_THAT(message(with(base(), "tokenizer.ggml.token_type", Array(std::vector<int32_t>(5, 1)))),
              AllOf(HasSubstr("token_type has 5 entries"), HasSubstr("tokens has 4")));
}

}  // namespace
}  // namespace soffit::text::test
