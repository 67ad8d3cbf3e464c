// Vocabularies: of the right size, without doubles, and able to tokenise anything.
#include "synth/vocabulary.hpp"

#include <gmock/gmock.h>

#include <unordered_map>

#include "text/tokenizer.hpp"

namespace soffit::synth {
namespace {

using testing::ElementsAre;

class Vocabularies : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto shape = find_shape(GetParam());
    ASSERT_TRUE(shape);
    shape_ = *shape;
    auto vocabulary = make_vocabulary(shape_);
    ASSERT_TRUE(vocabulary) << vocabulary.error().message;
    vocabulary_ = *std::move(vocabulary);
  }
  std::shared_ptr<const text::Tokenizer> tokenizer() const {
    text::Vocabulary source;
    source.algorithm = text::Algorithm::byte_level_bpe;
    source.pre = std::string(vocabulary_.pre);
    source.tokens = vocabulary_.tokens, source.merges = vocabulary_.merges;
    for (const int32_t type : vocabulary_.types) source.types.push_back(text::TokenType(type));
    source.ids.bos = text::TokenId(vocabulary_.begin), source.ids.eos = text::TokenId(vocabulary_.end);
    source.add_bos = vocabulary_.add_begin;
    auto tokenizer = text::Tokenizer::create(std::move(source));
    EXPECT_TRUE(tokenizer) << tokenizer.error().message;
    return *tokenizer;
  }

  Shape shape_;
  Vocabulary vocabulary_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, Vocabularies,
                         testing::Values("qwen3-0.6b", "llama-1b", "qwen3-tiny", "qwen3moe-tiny", "llama-tiny"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                           return name;
                         });

TEST_P(Vocabularies, HaveTheSizeOfTheShapeAndNoDoubles) {
  EXPECT_EQ(int64_t(vocabulary_.tokens.size()), shape_.vocabulary);
  EXPECT_EQ(vocabulary_.types.size(), vocabulary_.tokens.size());
  std::unordered_map<std::string_view, int> count;
  for (const std::string& token : vocabulary_.tokens) {
    EXPECT_FALSE(token.empty());
    EXPECT_EQ(++count[token], 1) << token;
  }
}

TEST_P(Vocabularies, EveryMergeJoinsEarlierTokensIntoTheNextOne) {
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t i = 0; i < vocabulary_.tokens.size(); ++i) ids[vocabulary_.tokens[i]] = i;
  ASSERT_EQ(vocabulary_.merges.size(), size_t(shape_.ordinary_tokens) - 256);
  for (size_t i = 0; i < vocabulary_.merges.size(); ++i) {
    const std::string_view merge = vocabulary_.merges[i];
    const size_t space = merge.find(' ');
    const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    ASSERT_EQ(vocabulary_.tokens[256 + i], std::string(left) + std::string(right));
    ASSERT_TRUE(ids.contains(left) && ids.contains(right)) << merge;
    ASSERT_LT(ids[left], 256 + i);
    ASSERT_LT(ids[right], 256 + i);
  }
}

TEST_P(Vocabularies, TokeniseAnyText) {
  const auto t = tokenizer();
  const std::string text = "The quick brown fox,\n\tnaïve 漢字 🦊 \x01 12345 and   so on.";
  const auto ids = t->encode(text, {.add_special = false});
  ASSERT_TRUE(ids) << ids.error().message;
  EXPECT_EQ(*t->decode(*ids), text);
  EXPECT_LT(ids->size(), text.size());
}

TEST_P(Vocabularies, KnowTheFamilysSpecialTokens) {
  const auto t = tokenizer();
  const std::string text = shape_.is_llama() ? "<|start_header_id|>x<|eot_id|>" : "<|im_start|>x<|im_end|>";
  const auto ids = t->encode(text, {.add_special = false, .parse_special = true});
  ASSERT_TRUE(ids);
  const auto first = text::TokenId(shape_.ordinary_tokens);
  EXPECT_THAT(*ids, ElementsAre(first + (shape_.is_llama() ? 6 : 1), testing::_, text::TokenId(vocabulary_.end)));
  EXPECT_TRUE(t->is_end_of_generation(text::TokenId(vocabulary_.end)));
}

TEST(VocabularyOfRealSize, HasTheIdsOfTheRealOne) {
  const auto qwen = make_vocabulary(*find_shape("qwen3-8b")), llama = make_vocabulary(*find_shape("llama-8b"));
  ASSERT_TRUE(qwen && llama);
  EXPECT_EQ(qwen->tokens[151643], "<|endoftext|>");
  EXPECT_EQ(qwen->tokens[151645], "<|im_end|>");
  EXPECT_EQ(qwen->tokens[151668], "</think>");
  EXPECT_EQ(qwen->tokens[151669], "[PAD151669]");
  EXPECT_EQ(qwen->end, 151645u);
  EXPECT_EQ(llama->tokens[128000], "<|begin_of_text|>");
  EXPECT_EQ(llama->tokens[128009], "<|eot_id|>");
  EXPECT_EQ(llama->tokens[128011], "<|reserved_special_token_3|>");
  EXPECT_EQ(llama->tokens[128255], "<|reserved_special_token_247|>");
  EXPECT_EQ(llama->begin, 128000u);
}

TEST(VocabularyOfAnImpossibleSize, IsRefused) {
  Shape shape = *find_shape("qwen3-tiny");
  shape.vocabulary = 1030;  // no room for the special tokens
  EXPECT_FALSE(make_vocabulary(shape));
  shape.vocabulary = 600000, shape.ordinary_tokens = 500000;  // more words than there are
  EXPECT_FALSE(make_vocabulary(shape));
  shape.ordinary_tokens = 255;  // not even the bytes
  EXPECT_FALSE(make_vocabulary(shape));
}

}  // namespace
}  // namespace soffit::synth
