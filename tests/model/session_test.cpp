// Sessions: batches of any shape give what single tokens give, sequences do not touch each other, and what cannot be
// done is refused before anything has changed.
#include "model/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runs.hpp"

namespace soffit::test {
namespace {

using model::BatchRow;
using model::Session;
using testing::HasSubstr;

const std::vector<int32_t> kTokens = {3, 14, 15, 9, 26, 49, 0, 7, 31, 8, 8, 44, 2};
const std::vector<int32_t> kOthers = {40, 1, 33, 12, 5, 27, 16};

std::vector<float> copy(std::span<const float> logits) { return {logits.begin(), logits.end()}; }

// The logits after the last token.
std::vector<float> append(Session& session, int64_t sequence, std::span<const int32_t> tokens) {
  return copy(take(session.append(sequence, tokens)));
}

std::vector<float> row(const std::vector<float>& logits, size_t i) {
  return {logits.begin() + ptrdiff_t(i * 50), logits.begin() + ptrdiff_t(i * 50 + 50)};
}

class EveryArchitecture : public testing::TestWithParam<ModelFile> {
 protected:
  LoadedFile loaded_ = load(GetParam());
  std::unique_ptr<Session> session(const model::SessionOptions& options) {
    return take(Session::create(*loaded_.model, options));
  }
};

INSTANTIATE_TEST_SUITE_P(Session, EveryArchitecture, testing::ValuesIn(ModelFile::all()),
                         [](const auto& info) { return info.param.architecture; });

TEST_P(EveryArchitecture, OneBatchIsTokenByToken) {
  const auto batch = logits_of(*loaded_.model, kTokens);
  const auto single = session({.context = 16, .key_value_type = DataType::f32});
  for (size_t i = 0; i < kTokens.size(); i++) {
    EXPECT_EQ(append(*single, 0, {&kTokens[i], 1}), row(batch, i)) << i;
  }
}

TEST_P(EveryArchitecture, APromptInBatchesIsThePromptAtOnce) {
  const auto at_once = row(logits_of(*loaded_.model, kTokens), kTokens.size() - 1);
  for (const int64_t batch : {1, 2, 3, 5, 12, 13}) {
    const auto divided = session({.context = 16, .batch = batch, .key_value_type = DataType::f32});
    EXPECT_EQ(append(*divided, 0, kTokens), at_once) << batch;
  }
}

TEST_P(EveryArchitecture, OnlyWantedRowsAndExactlyThose) {
  const auto all = logits_of(*loaded_.model, kTokens);
  for (const auto& wanted : std::vector<std::vector<int32_t>>{{}, {0}, {12}, {3, 4, 11}, {0, 12}}) {
    const auto some = session({.context = 16, .batch = 13, .outputs = 4, .key_value_type = DataType::f32});
    std::vector<BatchRow> rows;
    for (int32_t i = 0; i < 13; i++) rows.push_back({kTokens[size_t(i)], 0, i});
    const auto logits = copy(take(some->decode(rows, wanted)));
    ASSERT_EQ(logits.size(), wanted.size() * 50);
    for (size_t i = 0; i < wanted.size(); i++) EXPECT_EQ(row(logits, i), row(all, size_t(wanted[i])));
  }
}

TEST_P(EveryArchitecture, SequencesSideBySideAreSequencesAlone) {
  const auto first = logits_of(*loaded_.model, kTokens), second = logits_of(*loaded_.model, kOthers);
  const auto both =
      session({.context = 16, .batch = 20, .outputs = 20, .sequences = 3, .key_value_type = DataType::f32});
  std::vector<BatchRow> rows;
  std::vector<int32_t> wanted;
  for (int32_t i = 0; i < 13; i++) {
    rows.push_back({kTokens[size_t(i)], 2, i});
    if (i < 7) rows.push_back({kOthers[size_t(i)], 0, i});
  }
  for (int32_t i = 0; i < 20; i++) wanted.push_back(i);
  const auto logits = copy(take(both->decode(rows, wanted)));
  for (size_t i = 0; i < rows.size(); i++) {
    EXPECT_EQ(row(logits, i), row(rows[i].sequence == 2 ? first : second, size_t(rows[i].position))) << i;
  }
  EXPECT_EQ(both->length(0), 7);
  EXPECT_EQ(both->length(1), 0);
  EXPECT_EQ(both->length(2), 13);
}

TEST_P(EveryArchitecture, TruncatedSequencesGoOnAsIfTheRestHadNotBeen) {
  const auto expected = row(logits_of(*loaded_.model, kTokens), 12);
  const auto cut = session({.context = 32, .batch = 32, .key_value_type = DataType::f32});
  append(*cut, 0, std::span(kTokens).first(6));
  append(*cut, 0, kOthers);
  expect_ok(cut->truncate(0, 6));
  EXPECT_EQ(cut->length(0), 6);
  EXPECT_EQ(append(*cut, 0, std::span(kTokens).subspan(6)), expected);
}

TEST_P(EveryArchitecture, CopiedSequencesDiverge) {
  const auto expected = row(logits_of(*loaded_.model, kTokens), 12);
  const auto copies = session({.context = 32, .batch = 32, .sequences = 2, .key_value_type = DataType::f32});
  append(*copies, 0, std::span(kTokens).first(6));
  append(*copies, 1, kOthers);
  expect_ok(copies->copy(0, 1));
  EXPECT_EQ(copies->length(1), 6);
  append(*copies, 0, kOthers);
  EXPECT_EQ(append(*copies, 1, std::span(kTokens).subspan(6)), expected);
}

TEST_P(EveryArchitecture, SavedSequencesGoOnElsewhere) {
  const auto expected = row(logits_of(*loaded_.model, kTokens), 12);
  const model::SessionOptions options = {.context = 32, .batch = 32, .sequences = 2, .key_value_type = DataType::f32};
  const auto from = session(options), to = session(options);
  append(*from, 0, std::span(kTokens).first(6));
  const auto saved = take(from->save(0));
  append(*to, 1, kOthers);
  expect_ok(to->load(1, saved));
  EXPECT_EQ(to->length(1), 6);
  EXPECT_EQ(append(*to, 1, std::span(kTokens).subspan(6)), expected);
  EXPECT_FALSE(to->load(0, std::span(saved).first(5)));
  EXPECT_EQ(to->length(0), 0);
}

class Refusals : public testing::Test {
 protected:
  LoadedFile loaded_ = load(ModelFile::llama());
  std::unique_ptr<Session> session_ =
      take(Session::create(*loaded_.model, {.context = 8, .batch = 4, .outputs = 2, .sequences = 2}));
  std::string decode(std::vector<BatchRow> rows, std::vector<int32_t> wanted = {}) {
    const auto logits = session_->decode(rows, wanted);
    if (logits) return "accepted";
    EXPECT_EQ(logits.error().code, Code::invalid_argument);
    return logits.error().message;
  }
};

TEST_F(Refusals, BatchesThatMakeNoSense) {
  EXPECT_THAT(decode({}), HasSubstr("0 tokens, expected 1 to 4"));
  EXPECT_THAT(decode({{1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {1, 0, 3}, {1, 0, 4}}), HasSubstr("5 tokens, expected 1 to 4"));
  EXPECT_THAT(decode({{50, 0, 0}}), HasSubstr("token 50 of a vocabulary of 50"));
  EXPECT_THAT(decode({{-1, 0, 0}}), HasSubstr("token -1"));
  EXPECT_THAT(decode({{1, 2, 0}}), HasSubstr("sequence 2 of 2"));
  EXPECT_THAT(decode({{1, -1, 0}}), HasSubstr("sequence -1"));
  EXPECT_THAT(decode({{1, 0, 1}}), HasSubstr("position 1 of sequence 0, whose next is 0"));
  EXPECT_THAT(decode({{1, 0, 0}, {1, 0, 0}}), HasSubstr("position 0 of sequence 0, whose next is 1"));
  EXPECT_THAT(decode({{1, 0, 0}}, {1}), HasSubstr("wanted row 1 of a batch of 1"));
  EXPECT_THAT(decode({{1, 0, 0}}, {-1}), HasSubstr("wanted row -1"));
  EXPECT_THAT(decode({{1, 0, 0}, {1, 0, 1}}, {1, 0}), HasSubstr("must ascend"));
  EXPECT_THAT(decode({{1, 0, 0}, {1, 0, 1}, {1, 0, 2}}, {0, 1, 2}), HasSubstr("3 rows are wanted, room for 2"));
  EXPECT_EQ(session_->length(0), 0);
  EXPECT_EQ(session_->length(1), 0);
}

TEST_F(Refusals, AFullContextIsSeenBeforeItOverflows) {
  const std::vector<int32_t> seven(7, 1), two(2, 1);
  append(*session_, 0, seven);
  const auto over = session_->append(0, two);
  ASSERT_FALSE(over);
  EXPECT_THAT(over.error().message, HasSubstr("the context is full: 2 tokens after 7 exceed its 8 positions"));
  EXPECT_EQ(session_->length(0), 7);
  EXPECT_THAT(decode({{1, 0, 7}, {1, 0, 8}}), HasSubstr("the context is full: sequence 0 holds 7"));
  EXPECT_EQ(session_->length(0), 7);
  EXPECT_EQ(decode({{1, 0, 7}, {1, 1, 0}}), "accepted");
  EXPECT_EQ(session_->length(0), 8);
}

TEST_F(Refusals, SequencesCannotGrowByTruncation) {
  EXPECT_FALSE(session_->truncate(0, 1));
  EXPECT_FALSE(session_->truncate(0, -1));
  EXPECT_FALSE(session_->truncate(2, 0));
  EXPECT_FALSE(session_->copy(0, 2));
}

TEST_F(Refusals, SessionsThatMakeNoSense) {
  const auto refusal = [&](model::SessionOptions options) {
    const auto session = Session::create(*loaded_.model, options);
    return session ? "accepted" : session.error().message;
  };
  EXPECT_THAT(refusal({.context = 0}), HasSubstr("context is 0"));
  EXPECT_THAT(refusal({.batch = 0}), HasSubstr("batch is 0"));
  EXPECT_THAT(refusal({.batch = 4, .outputs = 5}), HasSubstr("outputs is 5, expected 1 to 4"));
  EXPECT_THAT(refusal({.sequences = 0}), HasSubstr("sequences is 0"));
  EXPECT_THAT(refusal({.key_value_type = DataType::bf16}), HasSubstr("bf16"));
}

TEST(Session, CancelledPromptsKeepWhatWasRun) {
  const LoadedFile loaded = load(ModelFile::llama());
  const auto session = take(Session::create(*loaded.model, {.context = 16, .batch = 4}));
  int batches = 0;
  const auto logits = session->append(0, kTokens, [&] { return batches++ < 2; });
  ASSERT_FALSE(logits);
  EXPECT_EQ(logits.error().code, Code::cancelled);
  EXPECT_EQ(session->length(0), 8);
}

TEST(Session, MoreBatchSizesThanPlansAreKept) {
  const LoadedFile loaded = load(ModelFile::llama());
  const auto session =
      take(Session::create(*loaded.model, {.context = 40, .batch = 40, .key_value_type = DataType::f32}));
  const std::vector<int32_t> tokens(40, 7);
  std::vector<float> first;
  for (size_t pass = 0; pass < 2; pass++) {
    for (size_t count = 1; count <= 40; count++) {
      expect_ok(session->truncate(0, 0));
      const auto logits = append(*session, 0, std::span(tokens).first(count));
      EXPECT_NE(session->last_plan(), nullptr);
      if (count != 40) continue;
      if (pass == 0) first = logits;
      EXPECT_EQ(logits, first);
    }
  }
}

// Layers with a window of 7 hold it and the batch alone: the same logits, in less memory, and no way far back.
TEST(Session, WindowsHoldWhatIsSeen) {
  const LoadedFile loaded = load(ModelFile::gemma3(), take(create_backend("cpu", {})));
  const model::SessionOptions options = {.context = 600, .batch = 4, .sequences = 2};
  const auto ring = take(Session::create(*loaded.model, options));
  model::SessionOptions of_all = options;
  of_all.batch = 600;
  const auto all = take(Session::create(*loaded.model, of_all));
  EXPECT_LT(ring->state_bytes(), all->state_bytes() / 2);
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 300; i++) tokens.push_back(i * 7 % 50);
  const auto run = [&](Session& session, size_t begin, size_t end) {
    std::vector<std::vector<float>> logits;
    for (size_t at = begin; at < end; at += 4) logits.push_back(append(session, 0, std::span(tokens).subspan(at, 4)));
    return logits;
  };
  const auto expected = run(*all, 0, 300);
  EXPECT_EQ(run(*ring, 0, 300), expected);

  const Status far = ring->truncate(0, 200);
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code, Code::unsupported);
  EXPECT_EQ(ring->length(0), 300);
  expect_ok(ring->copy(0, 1));
  expect_ok(ring->truncate(0, 280));
  const auto end = std::vector<std::vector<float>>(expected.begin() + 70, expected.end());
  EXPECT_EQ(run(*ring, 280, 300), end);
  expect_ok(ring->load(0, take(ring->save(1))));
  EXPECT_EQ(take(ring->rewind(0, 280)), 280);
  EXPECT_EQ(run(*ring, 280, 300), end);

  EXPECT_EQ(take(ring->rewind(0, 200)), 0);
  EXPECT_EQ(ring->length(0), 0);
  EXPECT_EQ(run(*ring, 0, 300), expected);
  EXPECT_FALSE(ring->rewind(0, 301));
}

}  // namespace
}  // namespace soffit::test
