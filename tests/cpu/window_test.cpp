// Layers that hold a window of the last positions: the same results as layers that hold all, in less memory, and what
// cannot be had any more is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kHeads = 2, kDim = 16, kWindow = 70, kBatch = 50, kContext = 2000, kHeld = 128;

std::string message(const Status& status) { return status ? "no error" : status.error().message; }

class Window : public EachArm {
 protected:
  void SetUp() override {
    EachArm::SetUp();
    StateDescription d;
    d.sequences = 3, d.context = kContext, d.batch = kBatch;
    d.layers = {KeyValueLayer{kHeads, kDim, kWindow}};
    ring_ = *backend_->new_state(d);
    d.layers = {KeyValueLayer{kHeads, kDim}};
    all_ = *backend_->new_state(d);
  }
  struct Run {
    std::string error;
    std::vector<float> y;
  };
  // Appends rows whose keys and values follow from their position, and attends to them.
  Run run(State& state, int32_t sequence, int64_t first, int64_t count, bool append = true, int64_t window = kWindow) {
    std::vector<int32_t> sequences(size_t(count), sequence), positions;
    std::vector<float> k, v;
    for (int64_t p = first; p < first + count; ++p) {
      positions.push_back(int32_t(p));
      const auto seed = uint64_t(p) * 10 + uint64_t(append_seed_);
      for (float x : random_x(kHeads * kDim, seed)) k.push_back(x);
      for (float x : random_x(kHeads * kDim, seed + 1)) v.push_back(x);
    }
    const Array s = make_array(*backend_, 1, count, sequences), p = make_array(*backend_, 1, count, positions);
    const Array keys = make_array(*backend_, count, kHeads * kDim, k),
                values = make_array(*backend_, count, kHeads * kDim, v);
    const Array q = make_array(*backend_, count, 2 * kHeads * kDim, random_x(count * 2 * kHeads * kDim, 5));
    const Array y = make_array(*backend_, count, 2 * kHeads * kDim);
    std::vector<Operation> operations = {
        AppendKeyValue{keys.view, values.view, &state, 0, s.view, p.view},
        Attention{q.view, &state, 0, 2 * kHeads, 0.25f, window, s.view, p.view, y.view}};
    if (!append) operations.erase(operations.begin());
    const auto plan = backend_->plan(operations, {});
    if (!plan) return {plan.error().message, {}};
    return {message((*plan)->run()), read_floats(y)};
  }
  void expect_same(int32_t sequence, int64_t first, int64_t count) {
    const Run a = run(*ring_, sequence, first, count), b = run(*all_, sequence, first, count);
    EXPECT_EQ(a.error, "no error");
    EXPECT_EQ(a.y, b.y) << "sequence " << sequence << ", positions " << first << " + " << count;
  }
  int64_t extend(int32_t sequence, int64_t length) {
    int64_t at = 0;
    for (int64_t count; at < length; at += count) expect_same(sequence, at, count = std::min(kBatch, length - at));
    return at;
  }

  std::unique_ptr<State> ring_, all_;
  int append_seed_ = 0;
};
SOFFIT_FOR_EACH_ARM(Window);

TEST_P(Window, GivesTheSameBitsInLessMemory) {
  EXPECT_EQ(ring_->size_bytes(), uint64_t(3 * kHeld * kHeads * kDim * 2 * 2));
  EXPECT_LT(ring_->size_bytes(), all_->size_bytes() / 10);
  int64_t at = extend(0, 3 * kHeld + 7);
  for (int i = 0; i < 140; ++i) expect_same(0, at++, 1);
  extend(1, 90);
  expect_same(0, at, kBatch);
}

TEST_P(Window, GoesBackAsFarAsItHolds) {
  const int64_t length = extend(0, 3 * kHeld);
  // The row at the new length sees kWindow - 1 positions before it, and the oldest that is held is length - kHeld.
  const int64_t least = length - kHeld + kWindow - 1;
  const auto refused = ring_->truncate(0, least - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr(std::to_string(least - 1)), HasSubstr(std::to_string(kWindow)),
                                             HasSubstr(std::to_string(length - kHeld))));
  EXPECT_FALSE(ring_->save(0, least - 1));
  EXPECT_FALSE(ring_->copy(0, 1, least - 1));
  // Nothing has changed by that.
  EXPECT_EQ(run(*ring_, 0, length - 1, 1, false).y, run(*all_, 0, length - 1, 1, false).y);
  ASSERT_TRUE(ring_->truncate(0, least));
  // What has been overwritten does not come back by going back.
  EXPECT_FALSE(ring_->truncate(0, least - 1));
  append_seed_ = 5;
  for (int64_t at = least; at < least + 3 * kHeld; at += kBatch) expect_same(0, at, kBatch);
  // Empty is always possible.
  ASSERT_TRUE(ring_->truncate(0, 0));
  append_seed_ = 7;
  extend(0, 200);
}

TEST_P(Window, IsSavedLoadedAndCopied) {
  const int64_t length = extend(0, 3 * kHeld + 11), cut = length - 20;
  extend(1, 30);
  const auto saved = ring_->save(0, cut);
  ASSERT_TRUE(saved);
  EXPECT_LT(saved->size(), ring_->size_bytes() / 3 + 100);
  ASSERT_TRUE(ring_->load(1, *saved));
  ASSERT_TRUE(ring_->copy(0, 2, cut));
  ASSERT_TRUE(all_->copy(0, 1, cut));
  ASSERT_TRUE(all_->copy(0, 2, cut));
  append_seed_ = 3;
  for (int32_t sequence : {1, 2}) {
    // What the ring of sequence 0 has overwritten is not in the copy either.
    EXPECT_FALSE(ring_->truncate(sequence, length - kHeld + kWindow - 2));
    for (int64_t at = cut; at < cut + 2 * kHeld; at += 31) expect_same(sequence, at, 31);
  }
  expect_same(0, length, 10);
  // A position that it cannot begin at.
  auto wrong = *saved;
  wrong[15] ^= std::byte{0x80};
  EXPECT_FALSE(ring_->load(1, wrong));
}

TEST_P(Window, WhatIsNotHeldIsAnError) {
  const int64_t length = extend(0, 2 * kHeld + 3);
  EXPECT_EQ(run(*ring_, 0, length - kHeld + kWindow - 1, 1, false).error, "no error");
  EXPECT_THAT(run(*ring_, 0, length - kHeld + kWindow - 2, 1, false).error,
              AllOf(HasSubstr("attention"), HasSubstr(std::to_string(length - kHeld - 1))));
  EXPECT_THAT(run(*ring_, 0, length, kBatch + 1).error, AllOf(HasSubstr("51 rows"), HasSubstr("batches of 50")));
  EXPECT_THAT(run(*ring_, 0, length, 1, true, kWindow + 1).error, AllOf(HasSubstr("71"), HasSubstr("70")));
  EXPECT_THAT(run(*ring_, 0, length, 1, true, 0).error, HasSubstr("window"));
  EXPECT_THAT(run(*all_, 0, length, 1, true, -1).error, HasSubstr("window"));
  // A narrower view than what is held.
  EXPECT_EQ(run(*ring_, 0, length, 3, true, 9).y, run(*all_, 0, length, 3, true, 9).y);
}

}  // namespace
}  // namespace soffit::test
