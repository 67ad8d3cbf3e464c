// The tokenizers of two real model files against llama.cpp: every golden id, every piece, every end of generation.
#include <gtest/gtest.h>

#include <chrono>

#include "golden.hpp"
#include "text/load_tokenizer.hpp"
#include "text/pretokenizer.hpp"
#include "text/utf8.hpp"

namespace soffit::text::test {
namespace {

struct RealFile {
  const char* file;
  const char* golden;
  size_t vocabulary;
  std::vector<TokenId> ends;  // of a generation, as llama_vocab_is_eog has them
  uint64_t pieces_hash;       // FNV-1a over llama_token_to_piece of every id, 0xFF after each: make_golden.py --pieces
};

const RealFile kFiles[] = {
    {"SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2", 49152, {0, 2, 4}, 0xd362633062518cff},
    {"gemma-3-270m-q4_k_m.gguf", "gemma3", 262144, {1, 106, 212}, 0xf7bb17ece73de9cc},
};

class RealFiles : public testing::TestWithParam<RealFile> {
 protected:
  void SetUp() override {
    const auto path = model_file(GetParam().file);
    if (!path) GTEST_SKIP() << skip_reason(GetParam().file);
    auto file = gguf::File::open(*path);
    ASSERT_TRUE(file) << file.error().message;
    const auto start = std::chrono::steady_clock::now();
    auto loaded = load_tokenizer(**file);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(loaded) << loaded.error().message;
    RecordProperty("load_milliseconds", std::to_string(time.count()));
    tokenizer = *loaded;
  }

  std::shared_ptr<const Tokenizer> tokenizer;
};

TEST_P(RealFiles, IdsEqualLlamaCpp) {
  const auto golden = golden_ids(GetParam().golden);
  const auto& strings = hostile_strings();
  ASSERT_EQ(golden.size(), strings.size());
  ASSERT_EQ(tokenizer->vocabulary_size(), GetParam().vocabulary);
  for (size_t i = 0; i < strings.size(); ++i) {
    if (!golden[i].defined) continue;
    EXPECT_EQ(*tokenizer->encode(strings[i], {false, false}), golden[i].plain) << i << ": " << printable(strings[i]);
    EXPECT_EQ(*tokenizer->encode(strings[i], {false, true}), golden[i].special) << i << ": " << printable(strings[i]);
  }
}

TEST_P(RealFiles, PiecesAndEndsEqualLlamaCpp) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (size_t id = 0; id < tokenizer->vocabulary_size(); ++id) {
    const auto piece = tokenizer->piece(TokenId(id));
    for (char byte : *piece) add(uint8_t(byte));
    add(0xFF);
  }
  EXPECT_EQ(hash, GetParam().pieces_hash);
  const auto ends = tokenizer->end_of_generation();
  EXPECT_EQ(std::vector<TokenId>(ends.begin(), ends.end()), GetParam().ends);
}

TEST_P(RealFiles, DecodingAndStreamingGiveTheTextBack) {
  const bool bytes_survive = tokenizer->vocabulary().algorithm == Algorithm::sentencepiece;
  size_t lossless = 0;
  for (const std::string& string : hostile_strings()) {
    EncodeLoss loss;
    const auto ids = *tokenizer->encode(string, {false, true}, &loss);
    const std::string whole = *tokenizer->decode(ids);
    TokenStream stream(*tokenizer);
    std::string text;
    for (TokenId id : ids) text += *stream.push(id);
    EXPECT_EQ(text + stream.finish(), replace_invalid(whole)) << printable(string);
    if (loss.dropped_bytes > 0) continue;  // the vocabulary of SmolLM2 has no token for some control bytes
    ++lossless;
    std::string expected = bytes_survive ? string : sanitize(string).text;
    // U+2581 is how SentencePiece writes a space, so it comes back as one.
    for (size_t at; bytes_survive && (at = expected.find(kSpaceMark)) != std::string::npos;) {
      expected.replace(at, kSpaceMark.size(), " ");
    }
    EXPECT_EQ(whole, expected) << printable(string);
  }
  EXPECT_GE(lossless, hostile_strings().size() - 30);
}

TEST_P(RealFiles, BosIsAddedWhereTheFileSaysSo) {
  const bool gemma = tokenizer->vocabulary().algorithm == Algorithm::sentencepiece;
  EXPECT_EQ(tokenizer->adds_bos(), gemma);
  EXPECT_FALSE(tokenizer->adds_eos());
  EXPECT_EQ(*tokenizer->encode(""), gemma ? std::vector<TokenId>{2} : std::vector<TokenId>{});
  EXPECT_EQ(tokenizer->vocabulary().chat_template.has_value(), !gemma);
  EXPECT_TRUE(tokenizer->vocabulary().warnings.empty());
}

INSTANTIATE_TEST_SUITE_P(Files, RealFiles, testing::ValuesIn(kFiles),
                         [](const auto& info) { return std::string(info.param.golden); });

}  // namespace
}  // namespace soffit::text::test
