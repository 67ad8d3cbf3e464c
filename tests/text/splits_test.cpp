// The pre-tokenisers against llama.cpp's ids, over a small vocabulary whose merges cross every boundary.
#include <gtest/gtest.h>

#include "golden.hpp"
#include "text/pretokenizer.hpp"

namespace soffit::text::test {
namespace {

class Splits : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Splits, IdsEqualLlamaCpp) {
  const auto [name, golden_name] = GetParam();
  auto tokenizer = Tokenizer::create(splits_vocabulary(name));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto golden = golden_ids(std::string("splits_") + golden_name);
  const auto& strings = hostile_strings();
  ASSERT_EQ(golden.size(), strings.size());
  ASSERT_GE(strings.size(), 200u);
  for (size_t i = 0; i < strings.size(); ++i) {
    if (!golden[i].defined) continue;
    auto ids = (*tokenizer)->encode(strings[i]);
    ASSERT_TRUE(ids) << ids.error().message;
    EXPECT_EQ(*ids, golden[i].plain) << "string " << i << ": " << printable(strings[i]);
  }
}

// Names that llama.cpp treats alike share the ids of one.
INSTANTIATE_TEST_SUITE_P(Names, Splits,
                         testing::Values(std::pair("", "default"), std::pair("default", "default"),
                                         std::pair("gpt-2", "gpt-2"), std::pair("phi-2", "gpt-2"),
                                         std::pair("olmo", "gpt-2"), std::pair("mpt", "gpt-2"),
                                         std::pair("smollm", "smollm"), std::pair("llama-bpe", "llama-bpe"),
                                         std::pair("llama3", "llama-bpe"), std::pair("llama-v3", "llama-bpe"),
                                         std::pair("falcon3", "llama-bpe"), std::pair("falcon-h1", "llama-bpe"),
                                         std::pair("pixtral", "llama-bpe"), std::pair("midm-2.0", "llama-bpe"),
                                         std::pair("lfm2", "llama-bpe"), std::pair("smaug-bpe", "smaug-bpe"),
                                         std::pair("dbrx", "smaug-bpe"), std::pair("qwen2", "qwen2"),
                                         std::pair("deepseek-r1-qwen", "qwen2"), std::pair("stablelm2", "qwen2"),
                                         std::pair("megrez", "qwen2"), std::pair("qwen35", "qwen35")));

TEST(Pretokenizer, UnknownNameListsTheKnownOnes) {
  auto family = find_pretokenizer_family("no-such-thing");
  ASSERT_FALSE(family);
  EXPECT_EQ(family.error().code, Code::unsupported);
  EXPECT_NE(family.error().message.find("no-such-thing"), std::string::npos);
  for (const char* name : {"smollm", "llama-bpe", "qwen2", "deepseek-r1-qwen", "qwen35", "gpt-2", "default"}) {
    EXPECT_NE(family.error().message.find(name), std::string::npos) << name;
  }
}

TEST(Pretokenizer, PiecesCoverTheText) {
  for (const char* name : {"default", "gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35"}) {
    auto family = find_pretokenizer_family(name);
    ASSERT_TRUE(family);
    auto pretokenizer = Pretokenizer::create(**family);
    ASSERT_TRUE(pretokenizer) << pretokenizer.error().message;
    for (const std::string& string : hostile_strings()) {
      const std::string text = sanitize(string).text;
      auto pieces = pretokenizer->split(text);
      ASSERT_TRUE(pieces) << pieces.error().message;
      size_t sum = 0;
      for (uint32_t size : *pieces) {
        EXPECT_GT(size, 0u);
        sum += size;
        // No piece begins inside a code point.
        EXPECT_TRUE(sum >= text.size() || (uint8_t(text[sum]) & 0xC0) != 0x80);
      }
      EXPECT_EQ(sum, text.size()) << printable(string);
    }
  }
}

std::vector<std::string> split(const char* name, std::string_view text) {
  auto family = find_pretokenizer_family(name);
  auto pretokenizer = Pretokenizer::create(**family);
  auto sizes = pretokenizer->split(text);
  EXPECT_TRUE(sizes);
  std::vector<std::string> out;
  for (uint32_t size : *sizes) out.emplace_back(text.substr(0, size)), text.remove_prefix(size);
  return out;
}

TEST(Pretokenizer, WhiteSpaceLeavesItsLastCharacterToTheNextWord) {
  using Pieces = std::vector<std::string>;
  EXPECT_EQ(split("gpt-2", "a  b   "), (Pieces{"a", " ", " b", "   "}));
  EXPECT_EQ(split("gpt-2", "a\n\nb"), (Pieces{"a", "\n", "\n", "b"}));
  EXPECT_EQ(split("qwen2", "a \n\n b"), (Pieces{"a", " \n\n", " b"}));
  EXPECT_EQ(split("llama-bpe", "1234567"), (Pieces{"123", "456", "7"}));
  EXPECT_EQ(split("qwen2", "123"), (Pieces{"1", "2", "3"}));
  EXPECT_EQ(split("smollm", "a12 3"), (Pieces{"a", "1", "2", " ", "3"}));
  EXPECT_EQ(split("qwen2", "IT'S it'll"), (Pieces{"IT", "'S", " it", "'ll"}));
  EXPECT_EQ(split("gpt-2", "IT'S"), (Pieces{"IT", "'", "S"}));
}

// U+180E is white space to PCRE2's \s but not to Unicode; CJK extension H is newer than PCRE2 10.42's tables.
TEST(Pretokenizer, ClassesAreUnicodes) {
  using Pieces = std::vector<std::string>;
  EXPECT_EQ(split("gpt-2", "a\u180e\u180e"), (Pieces{"a", "\u180e\u180e"}));
  EXPECT_EQ(split("gpt-2", "a\u180e!"), (Pieces{"a", "\u180e!"}));
  EXPECT_EQ(split("gpt-2", "a\U00031350"), (Pieces{"a\U00031350"}));
  EXPECT_EQ(split("gpt-2", "1\U0001E4F0 2"), (Pieces{"1\U0001E4F0", " 2"}));
}

TEST(Pretokenizer, MegabytesOfOneKindTakeNoQuadraticTime) {
  for (const char* name : {"default", "gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35"}) {
    for (const char* unit : {" ", "\n", "\r", "a", "1", "!", "'", "\u0301", " \n", "é", "'s", "\u00a0"}) {
      std::string text;
      while (text.size() < 1 << 20) text += unit;
      auto family = find_pretokenizer_family(name);
      auto pretokenizer = Pretokenizer::create(**family);
      ASSERT_TRUE(pretokenizer);
      auto pieces = pretokenizer->split(text);
      ASSERT_TRUE(pieces) << name << ": " << pieces.error().message;
      size_t sum = 0;
      for (uint32_t size : *pieces) sum += size;
      EXPECT_EQ(sum, text.size());
    }
  }
}

}  // namespace
}  // namespace soffit::text::test
