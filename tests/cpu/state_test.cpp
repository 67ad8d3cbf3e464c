// State: save, load, copy, truncate, and what attention sees of it afterwards.
#include <gtest/gtest.h>

#include <cmath>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

constexpr int64_t kHeads = 2, kDim = 16, kContext = 24;

class StateTest : public testing::TestWithParam<DataType> {
 protected:
  void SetUp() override {
    description_.layers = {KeyValueLayer{kHeads, kDim}, KeyValueLayer{1, 8}, KeyValueLayer{kHeads, kDim}};
    description_.sequences = 3, description_.context = kContext, description_.type = GetParam();
    auto state = backend_->new_state(description_);
    ASSERT_TRUE(state);
    state_ = *std::move(state);
  }
  // Appends `count` rows of random keys and values to both layers of a sequence.
  void append(int32_t sequence, int32_t first, int32_t count, uint64_t seed) {
    std::vector<int32_t> sequences(size_t(count), sequence), positions;
    for (int32_t i = 0; i < count; ++i) positions.push_back(first + i);
    const Array s = make_array(*backend_, 1, count, sequences), p = make_array(*backend_, 1, count, positions);
    for (int64_t layer : {0, 2}) {
      const Array k =
          make_array(*backend_, count, kHeads * kDim, random_x(count * kHeads * kDim, seed + uint64_t(layer)));
      const Array v =
          make_array(*backend_, count, kHeads * kDim, random_x(count * kHeads * kDim, seed + uint64_t(layer) + 100));
      run_plan(*backend_, {AppendKeyValue{k.view, v.view, state_.get(), layer, s.view, p.view}});
    }
  }
  std::vector<float> attend(int32_t sequence, int32_t position) {
    std::vector<float> all;
    const Array q = make_array(*backend_, 1, 2 * kHeads * kDim, random_x(2 * kHeads * kDim, 9));
    const Array y = make_array(*backend_, 1, 2 * kHeads * kDim);
    const Array s = make_array(*backend_, 1, 1, std::vector<int32_t>{sequence});
    const Array p = make_array(*backend_, 1, 1, std::vector<int32_t>{position});
    for (int64_t layer : {0, 2}) {
      run_plan(*backend_, {Attention{q.view, state_.get(), layer, 2 * kHeads, 0.25f, 0, s.view, p.view, y.view}});
      const auto values = read_floats(y);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  std::unique_ptr<Backend> backend_ = make_backend({"scalar", false});
  StateDescription description_;
  std::unique_ptr<State> state_;
};
INSTANTIATE_TEST_SUITE_P(Types, StateTest, testing::Values(DataType::f16, DataType::f32),
                         [](const auto& p) { return std::string(soffit::to_string(p.param)); });

TEST_P(StateTest, KnowsItsSizes) {
  EXPECT_EQ(state_->description().context, kContext);
  const int64_t elements = 3 * kContext * 2 * (2 * kHeads * kDim + 8);
  EXPECT_GE(state_->size_bytes(), uint64_t(elements * size_of(GetParam())));
}

TEST_P(StateTest, SequencesAreApart) {
  append(0, 0, 5, 1);
  const auto before = attend(0, 4);
  append(1, 0, 9, 2);
  append(2, 0, 9, 3);
  EXPECT_EQ(attend(0, 4), before);
  EXPECT_NE(attend(1, 4), before);
}

TEST_P(StateTest, SavedIsLoadedIntoAnySequence) {
  append(0, 0, 7, 1);
  append(2, 0, 7, 2);
  const auto there = attend(0, 6), other = attend(2, 6);
  const auto saved = state_->save(0, 7);
  ASSERT_TRUE(saved);
  ASSERT_TRUE(state_->load(2, *saved));
  EXPECT_EQ(attend(2, 6), there);
  EXPECT_NE(attend(2, 6), other);
  EXPECT_EQ(attend(0, 6), there);
  // A part of it: what lies behind stays.
  append(1, 0, 9, 3);
  const auto part = state_->save(0, 3);
  ASSERT_TRUE(part);
  ASSERT_TRUE(state_->load(1, *part));
  EXPECT_EQ(attend(1, 2), attend(0, 2));
}

TEST_P(StateTest, CopiedSequencesGoOnApart) {
  append(0, 0, 6, 1);
  ASSERT_TRUE(state_->copy(0, 1, 6));
  EXPECT_EQ(attend(1, 5), attend(0, 5));
  append(0, 6, 2, 2);
  append(1, 6, 2, 3);
  EXPECT_NE(attend(1, 7), attend(0, 7));
  ASSERT_TRUE(state_->copy(0, 0, 8));
}

TEST_P(StateTest, TruncatedPositionsAreUsedAgain) {
  append(0, 0, 10, 1);
  const auto at_three = attend(0, 3);
  ASSERT_TRUE(state_->truncate(0, 4));
  append(0, 4, 2, 5);
  const auto first = attend(0, 5);
  EXPECT_EQ(attend(0, 3), at_three);
  // The same as a sequence that never was longer.
  ASSERT_TRUE(state_->truncate(1, 0));
  append(1, 0, 10, 1);
  append(1, 4, 2, 5);
  EXPECT_EQ(attend(1, 5), first);
}

TEST_P(StateTest, MisuseIsAnError) {
  for (int64_t bad : {int64_t(-1), int64_t(3), INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(state_->truncate(bad, 0));
    EXPECT_FALSE(state_->copy(bad, 0, 1));
    EXPECT_FALSE(state_->copy(0, bad, 1));
    EXPECT_FALSE(state_->save(bad, 1));
    EXPECT_FALSE(state_->load(bad, *state_->save(0, 1)));
  }
  for (int64_t bad : {int64_t(-1), kContext + 1, INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(state_->truncate(0, bad));
    EXPECT_FALSE(state_->copy(0, 1, bad));
    EXPECT_FALSE(state_->save(0, bad));
  }
}

TEST_P(StateTest, ForeignBytesAreRefused) {
  auto saved = *state_->save(0, 5);
  EXPECT_FALSE(state_->load(0, {}));
  for (size_t cut : {size_t(1), size_t(7), size_t(8), saved.size() - 1})
    EXPECT_FALSE(state_->load(0, std::span(saved).first(cut)));
  auto longer = saved;
  longer.push_back(std::byte{});
  EXPECT_FALSE(state_->load(0, longer));
  for (size_t i = 0; i < 8; ++i) {
    auto wrong = saved;
    wrong[i] ^= std::byte{0x80};
    EXPECT_FALSE(state_->load(0, wrong)) << "byte " << i;
  }
}

TEST(StateShapes, ThatCannotBeAreRefused) {
  const auto backend = make_backend({"scalar", false});
  const auto refused = [&](StateDescription::Layer layer, int64_t sequences, int64_t context, DataType type,
                           int64_t batch = 1) {
    return !backend->new_state({{layer}, sequences, context, type, batch});
  };
  const DataType f16 = DataType::f16;
  EXPECT_FALSE(refused(KeyValueLayer{2, 16}, 1, 8, f16));
  EXPECT_TRUE(refused(KeyValueLayer{0, 16}, 1, 8, f16));
  EXPECT_TRUE(refused(KeyValueLayer{2, 0}, 1, 8, f16));
  EXPECT_TRUE(refused(KeyValueLayer{2, 16, -1}, 1, 8, f16));
  EXPECT_TRUE(refused(KeyValueLayer{2, 16}, 0, 8, f16));
  EXPECT_TRUE(refused(KeyValueLayer{2, 16}, 1, 0, f16));
  EXPECT_TRUE(refused(KeyValueLayer{2, 16}, 1, 8, DataType::i32));
  EXPECT_TRUE(refused(KeyValueLayer{2, 16}, 1, 8, f16, 0));
  EXPECT_TRUE(refused(KeyValueLayer{INT64_MAX, 2}, 2, 8, f16));
  EXPECT_TRUE(refused(KeyValueLayer{1 << 20, 1 << 20}, 1 << 20, 1 << 20, f16));
  EXPECT_TRUE(refused(KeyValueLayer{1, 16, INT64_MAX}, 1, INT64_MAX, f16, INT64_MAX));
  EXPECT_FALSE(refused(RecurrentLayer{8, 4, 2, 16, 16}, 1, 8, f16));
  EXPECT_FALSE(refused(RecurrentLayer{8, 4, 0, 0, 0}, 1, 8, f16));
  EXPECT_FALSE(refused(RecurrentLayer{0, 0, 2, 16, 16}, 1, 8, f16));
  EXPECT_TRUE(refused(RecurrentLayer{}, 1, 8, f16));
  EXPECT_TRUE(refused(RecurrentLayer{8, 0, 2, 16, 16}, 1, 8, f16));
  EXPECT_TRUE(refused(RecurrentLayer{8, 4, 2, 0, 16}, 1, 8, f16));
  EXPECT_TRUE(refused(RecurrentLayer{8, 4, -2, -16, 16}, 1, 8, f16));
  EXPECT_TRUE(refused(RecurrentLayer{INT64_MAX, INT64_MAX, 0, 0, 0}, 1, 8, f16));
  EXPECT_TRUE(refused(RecurrentLayer{0, 0, 1 << 20, 1 << 22, 1 << 22}, 1 << 20, 8, f16));
}

}  // namespace
}  // namespace soffit::test
