// Generation on a small vocabulary: when it stops, what it reuses, what streams.
#include "model/generator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runs.hpp"

namespace soffit::test {
namespace {

using model::Generation;
using model::GenerationOptions;
using model::Stop;

constexpr text::TokenId kEnd = 2;

// Fifty pieces: three of control, bytes of a euro sign, letters.
std::shared_ptr<const text::Tokenizer> make_tokenizer() {
  text::Vocabulary vocabulary;
  vocabulary.algorithm = text::Algorithm::sentencepiece;
  vocabulary.tokens = {"<unk>", "<s>", "</s>", "<0xE2>", "<0x82>", "<0xAC>"};
  vocabulary.types = {text::TokenType::unknown, text::TokenType::control, text::TokenType::control,
                      text::TokenType::byte,    text::TokenType::byte,    text::TokenType::byte};
  while (vocabulary.tokens.size() < 50) {
    vocabulary.tokens.push_back(std::string(1, char('A' + vocabulary.tokens.size())));
    vocabulary.types.push_back(text::TokenType::normal);
  }
  vocabulary.scores.assign(50, 0.0f);
  vocabulary.ids.bos = 1;
  vocabulary.ids.eos = kEnd;
  return take(text::Tokenizer::create(std::move(vocabulary)));
}

class Generating : public testing::Test {
 protected:
  // A model whose output adds a large bias to the tokens in turn: after token t comes next_[t].
  void SetUp() override {
    ModelFile file = ModelFile::llama();
    // With layers that add nothing, the logits are the normalised embedding's products: rows of the output that are
    // the embedding of the token before make it follow.
    for (auto& [name, tensor] : file.tensors) {
      if (name.ends_with("attn_output.weight") || name.ends_with("ffn_down.weight"))
        tensor = {tensor.shape, 0, 0, true};
    }
    const std::vector<float> embedding = file.values("token_embd.weight");
    std::vector<float> output(embedding.size());
    for (size_t token = 0; token < 50; token++) {
      std::copy_n(embedding.begin() + ptrdiff_t(token * 64), 64,
                  output.begin() + ptrdiff_t(size_t(next(int(token))) * 64));
    }
    file.tensors["output.weight"].values = output;
    file.tensors["output_norm.weight"] = {{64}, 0, 1.0f, true};
    loaded_ = load(file);
    restart({.context = 24, .batch = 4});
  }

  void restart(const model::SessionOptions& options) {
    session_ = take(model::Session::create(*loaded_.model, options));
    generator_.emplace(*session_, *tokenizer_, sampler_);
  }

  // 10, 11, … 48, the end; after the end the bytes of a euro sign.
  static text::TokenId next(int token) { return token == 48 ? kEnd : (token + 1) % 50; }

  Generation generate(const std::vector<text::TokenId>& prompt, const GenerationOptions& options = {}) {
    return take(generator_->generate(prompt, options));
  }

  std::shared_ptr<const text::Tokenizer> tokenizer_ = make_tokenizer();
  LoadedFile loaded_;
  std::unique_ptr<model::Session> session_;
  text::Sampler sampler_ = take(text::Sampler::create({.temperature = 0}));
  std::optional<model::Generator> generator_;
};

TEST_F(Generating, StopsAtTheEnd) {
  const Generation result = generate({30, 45});
  EXPECT_EQ(result.stop, Stop::end);
  EXPECT_THAT(result.tokens, testing::ElementsAre(46, 47, 48));
  EXPECT_EQ(result.text, "opq");
  EXPECT_EQ(result.prompt_tokens, 2);
  EXPECT_EQ(result.decoded_tokens, 3);
}

TEST_F(Generating, StopsAtTheLength) {
  const Generation result = generate({10}, {.max_tokens = 5});
  EXPECT_EQ(result.stop, Stop::length);
  EXPECT_THAT(result.tokens, testing::ElementsAre(11, 12, 13, 14, 15));
  EXPECT_EQ(result.decoded_tokens, 4);  // the last one is not run
  EXPECT_EQ(generate({10}, {.max_tokens = 0}).stop, Stop::length);
}

TEST_F(Generating, StopsWhereTheContextIsFull) {
  const Generation result = generate({10});
  EXPECT_EQ(result.stop, Stop::context);
  EXPECT_EQ(result.tokens.size(), 24u);  // 24 positions hold the prompt's token and all but the last of the answer
  EXPECT_EQ(session_->length(0), 24);
}

TEST_F(Generating, APromptOfTheWholeContextHasOneToken) {
  const Generation result = generate(std::vector<text::TokenId>(24, 10));
  EXPECT_EQ(result.stop, Stop::context);
  EXPECT_THAT(result.tokens, testing::ElementsAre(11));
}

TEST_F(Generating, ALongerPromptIsAnErrorWithTheNumbers) {
  const std::vector<text::TokenId> prompt(25, 10);
  const auto result = generator_->generate(prompt, {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("25 tokens and the context 24 positions"));
  EXPECT_FALSE(generator_->generate({}, {}));
}

TEST_F(Generating, StopsWhenTheCallerWantsNoMore) {
  int asked = 0;
  const Generation result = generate({10}, {.keep_going = [&] { return asked++ < 3; }});
  EXPECT_EQ(result.stop, Stop::cancelled);
  EXPECT_THAT(result.tokens, testing::ElementsAre(11, 12, 13));
  const Generation again = generate({10, 11, 12, 13}, {.max_tokens = 2});
  EXPECT_EQ(again.reused_tokens, 3);
  EXPECT_THAT(again.tokens, testing::ElementsAre(14, 15));
}

TEST_F(Generating, APromptCanBeCancelledBetweenBatches) {
  int asked = 0;
  const std::vector<text::TokenId> prompt(12, 10);
  const Generation result = generate(prompt, {.keep_going = [&] { return asked++ < 2; }});
  EXPECT_EQ(result.stop, Stop::cancelled);
  EXPECT_TRUE(result.tokens.empty());
  EXPECT_EQ(session_->length(0), 8);
  EXPECT_EQ(result.run_tokens, 8);  // its speed is theirs, not that of 12
  EXPECT_EQ(generate(prompt, {.max_tokens = 1}).reused_tokens, 8);
}

TEST_F(Generating, GoesOnAfterTheEndWhenTold) {
  const Generation result = generate({47}, {.max_tokens = 4, .ignore_end = true});
  EXPECT_EQ(result.stop, Stop::length);
  EXPECT_THAT(result.tokens, testing::ElementsAre(48, kEnd, 3, 4));
}

TEST_F(Generating, StreamsWholeCodePoints) {
  std::vector<std::string> pieces;
  const auto on_text = [&](std::string_view text) { pieces.emplace_back(text); };
  const Generation result = generate({kEnd}, {.max_tokens = 3, .on_text = on_text});
  EXPECT_THAT(result.tokens, testing::ElementsAre(3, 4, 5));
  EXPECT_THAT(pieces, testing::ElementsAre("\xE2\x82\xAC"));
  EXPECT_EQ(result.text, "\xE2\x82\xAC");
  pieces.clear();
  generate({kEnd}, {.max_tokens = 2, .on_text = on_text});
  EXPECT_THAT(pieces, testing::ElementsAre("\xEF\xBF\xBD"));  // cut in the middle
}

TEST_F(Generating, ReusesWhatTheSequenceHoldsOfThePrompt) {
  generate({10, 20, 30}, {.max_tokens = 3});  // holds 10 20 30 31 32
  const Generation same = generate({10, 20, 30}, {.max_tokens = 3});
  EXPECT_EQ(same.reused_tokens, 2);  // the last is run again for its logits
  EXPECT_EQ(same.run_tokens, 1);
  EXPECT_THAT(same.tokens, testing::ElementsAre(31, 32, 33));
  const Generation longer = generate({10, 20, 30, 31, 40, 41}, {.max_tokens = 1});
  EXPECT_EQ(longer.reused_tokens, 4);
  EXPECT_THAT(longer.tokens, testing::ElementsAre(42));
  const Generation other = generate({11}, {.max_tokens = 1});
  EXPECT_EQ(other.reused_tokens, 0);
  EXPECT_EQ(session_->length(0), 1);
}

// A state that holds windows cannot go back to a prompt's beginning: the prompt is run anew, with the same answer.
TEST(GeneratingWithWindows, APromptThatPartsEarlyIsRunAnew) {
  const LoadedFile loaded = load(ModelFile::gemma3(), take(create_backend("cpu", {})));
  const auto tokenizer = make_tokenizer();
  std::vector<text::TokenId> first, second;
  for (int i = 0; i < 200; i++) first.push_back(i * 7 % 47 + 3), second.push_back((i < 50 ? i * 7 : i * 11) % 47 + 3);
  const auto answers = [&](const std::vector<std::vector<text::TokenId>>& prompts) {
    auto session = take(model::Session::create(*loaded.model, {.context = 400, .batch = 4}));
    text::Sampler sampler = take(text::Sampler::create({.temperature = 0}));
    model::Generator generator(*session, *tokenizer, sampler);
    Generation last;
    for (const auto& prompt : prompts) last = take(generator.generate(prompt, {.max_tokens = 5, .ignore_end = true}));
    return last;
  };
  const Generation alone = answers({second}), after = answers({first, second});
  EXPECT_EQ(after.tokens, alone.tokens);
  EXPECT_EQ(after.reused_tokens, 0);
  // What is near is reused.
  auto longer = first;
  longer.push_back(5);
  EXPECT_GE(answers({first, longer}).reused_tokens, 199);
}

}  // namespace
}  // namespace soffit::test
