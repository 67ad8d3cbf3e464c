// What a query may not see cannot touch its result, not even as NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

constexpr int64_t kHeads = 2, kDim = 32;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class AttentionTest : public EachArm {
 protected:
  // Keys and values of positions [first, first + count) of a sequence.
  void append(State& state, int32_t sequence, int32_t first, const std::vector<float>& values) {
    const auto count = int64_t(values.size()) / (kHeads * kDim);
    std::vector<int32_t> positions;
    for (int32_t i = 0; i < count; ++i) positions.push_back(first + i);
    const Array s = make_array(*backend_, 1, count, std::vector<int32_t>(size_t(count), sequence)),
                p = make_array(*backend_, 1, count, positions),
                kv = make_array(*backend_, count, kHeads * kDim, values);
    run_plan(*backend_, {AppendKeyValue{kv.view, kv.view, &state, 0, s.view, p.view}});
  }
  std::vector<float> attend(const State& state, const std::vector<int32_t>& sequences,
                            const std::vector<int32_t>& positions, int64_t window, float q_of_last = 1.0f) {
    const auto n = int64_t(positions.size());
    auto values = random_x(n * 2 * kHeads * kDim, 5);
    for (int64_t i = (n - 1) * 2 * kHeads * kDim; i < n * 2 * kHeads * kDim; ++i) values[size_t(i)] *= q_of_last;
    const Array q = make_array(*backend_, n, 2 * kHeads * kDim, values),
                y = make_array(*backend_, n, 2 * kHeads * kDim);
    const Array s = make_array(*backend_, 1, n, sequences), p = make_array(*backend_, 1, n, positions);
    run_plan(*backend_, {Attention{q.view, &state, 0, 2 * kHeads, 0.2f, window, s.view, p.view, y.view}});
    return read_floats(y);
  }
  std::vector<float> bad(int64_t rows) { return std::vector<float>(size_t(rows * kHeads * kDim), kNaN); }
  static bool all_finite(const std::vector<float>& v) {
    return std::ranges::all_of(v, [](float x) { return std::isfinite(x); });
  }
};
SOFFIT_FOR_EACH_ARM(AttentionTest);

TEST_P(AttentionTest, WhatIsNotVisibleCannotTouchTheResult) {
  for (DataType type : {DataType::f16, DataType::f32}) {
    const auto clean = *backend_->new_state({{KeyValueLayer{kHeads, kDim}}, 2, 100, type}),
               dirty = *backend_->new_state({{KeyValueLayer{kHeads, kDim}}, 2, 100, type});
    const auto values = random_x(40 * kHeads * kDim, 6);
    append(*clean, 1, 10, values);
    append(*dirty, 0, 0, bad(100));
    append(*dirty, 1, 0, bad(100));
    append(*dirty, 1, 10, values);
    // Windows that begin at position 10 or later; the last query of each list sees the fewest keys.
    const std::vector<std::vector<int32_t>> lists = {{29}, {49, 48, 47, 46, 45, 44, 43, 42, 41}, {29, 45, 30, 33, 31}};
    for (const auto& positions : lists) {
      const std::vector<int32_t> sequences(positions.size(), 1);
      const auto expected = attend(*clean, sequences, positions, 20);
      EXPECT_EQ(attend(*dirty, sequences, positions, 20), expected) << to_string(type);
      EXPECT_TRUE(all_finite(expected));
    }
  }
}

// Queries of one batch are computed together: one that is NaN must not spoil another.
TEST_P(AttentionTest, AQueryThatIsNaNSpoilsItselfAlone) {
  const auto state = *backend_->new_state({{KeyValueLayer{kHeads, kDim}}, 1, 64, DataType::f16});
  append(*state, 0, 0, random_x(40 * kHeads * kDim, 7));
  const std::vector<int32_t> sequences(9, 0), positions = {31, 32, 33, 34, 35, 36, 37, 38, 39};
  const auto expected = attend(*state, sequences, positions, 0), spoilt = attend(*state, sequences, positions, 0, kNaN);
  const size_t last = size_t(8 * 2 * kHeads * kDim);
  for (size_t i = 0; i < last; ++i) ASSERT_EQ(spoilt[i], expected[i]);
  for (size_t i = last; i < spoilt.size(); ++i) ASSERT_TRUE(std::isnan(spoilt[i]));
}

// A value beyond fp16 is infinite in an F16 state; queries of the same batch that do not see it stay as they are.
TEST_P(AttentionTest, AnInfiniteValueSpoilsOnlyWhoSeesIt) {
  for (DataType type : {DataType::f16, DataType::f32}) {
    const auto clean = *backend_->new_state({{KeyValueLayer{kHeads, kDim}}, 1, 64, type}),
               spoilt = *backend_->new_state({{KeyValueLayer{kHeads, kDim}}, 1, 64, type});
    auto values = random_x(40 * kHeads * kDim, 7);
    append(*clean, 0, 0, values);
    for (int64_t i = 0; i < kHeads * kDim; ++i) values[size_t(36 * kHeads * kDim + i)] = INFINITY;
    append(*spoilt, 0, 0, values);
    const std::vector<int32_t> sequences(9, 0), positions = {31, 32, 33, 34, 35, 36, 37, 38, 39};
    for (int64_t window : {0, 3}) {
      const auto expected = attend(*clean, sequences, positions, window),
                 y = attend(*spoilt, sequences, positions, window);
      for (size_t i = 0; i < y.size(); ++i) {
        const auto position = positions[i / size_t(2 * kHeads * kDim)];
        if (position < 36 || (window == 3 && position > 38))
          ASSERT_EQ(y[i], expected[i]) << "position " << position << ", window " << window;
        else
          ASSERT_FALSE(std::isfinite(y[i])) << "position " << position << ", window " << window;
      }
    }
  }
}

// Rows of several sequences in any order are what each gives alone.
TEST_P(AttentionTest, MixedBatchesEqualSingleRows) {
  const auto state = *backend_->new_state({{KeyValueLayer{kHeads, kDim}}, 3, 64, DataType::f16});
  for (int32_t s = 0; s < 3; ++s) append(*state, s, 0, random_x(40 * kHeads * kDim, 8 + uint64_t(s)));
  const std::vector<int32_t> sequences = {0, 2, 1, 1, 0, 2, 2, 2, 0, 1, 0},
                             positions = {5, 39, 0, 17, 6, 3, 4, 5, 39, 1, 0};
  const auto together = attend(*state, sequences, positions, 0);
  const auto values = random_x(int64_t(positions.size()) * 2 * kHeads * kDim, 5);
  for (size_t i = 0; i < positions.size(); ++i) {
    const size_t width = size_t(2 * kHeads * kDim);
    const std::vector<float> row(values.begin() + ptrdiff_t(i * width), values.begin() + ptrdiff_t((i + 1) * width));
    const Array q = make_array(*backend_, 1, 2 * kHeads * kDim, row);
    const Array y = make_array(*backend_, 1, 2 * kHeads * kDim);
    const Array s = make_array(*backend_, 1, 1, std::vector<int32_t>{sequences[i]}),
                p = make_array(*backend_, 1, 1, std::vector<int32_t>{positions[i]});
    run_plan(*backend_, {Attention{q.view, state.get(), 0, 2 * kHeads, 0.2f, 0, s.view, p.view, y.view}});
    const auto single = read_floats(y);
    for (size_t k = 0; k < width; ++k) ASSERT_EQ(single[k], together[i * width + k]) << "row " << i;
  }
}

}  // namespace
}  // namespace soffit::test
