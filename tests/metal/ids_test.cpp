// Kernels that go by ids: products with experts, and rows of a matrix. Ids that are none read and write nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "check/blocks.hpp"
#include "core/half.hpp"
#include "kernels.hpp"
#include "metal/lane_ids.hpp"

namespace soffit::metal {
namespace {

void check_experts(const Variant& v, const LinearIdShape& shape, DataType type, uint64_t seed,
                   const std::vector<int32_t>& ids = {}) {
  SCOPED_TRACE(testing::Message() << shape.experts << " experts of " << shape.rows << " x " << shape.cols << ", "
                                  << shape.tokens << " tokens, " << shape.used << " used, " << to_string(type));
  auto problem = LinearIdProblem::random(v.format, shape, type, seed);
  ASSERT_TRUE(problem) << problem.error().message;
  std::ranges::copy(ids, problem->ids().begin());
  expect_clean(problem->run(v, v.tuning, {.seed = seed}));
  expect_right(problem->worst_result(v.terms));
  problem->forget_results();
  expect_clean(problem->run(v, v.tuning, {.checked = false, .seed = {}, .threads = 2}));
  expect_right(problem->worst_result(v.terms));
}

class Experts : public testing::TestWithParam<Variant> {};

TEST_P(Experts, AreRight) {
  const uint64_t block = info(GetParam().format).block_elements, cols = block == 1 ? 36 : block;
  check_experts(GetParam(), {.rows = 9, .cols = cols, .tokens = 5, .experts = 4, .used = 2}, DataType::f32, 1);
  check_experts(GetParam(), {.rows = 35, .cols = 256, .tokens = 3, .experts = 3, .used = 2, .per_slot = true},
                DataType::f16, 2);
  check_experts(GetParam(),
                {.rows = 5, .cols = 256, .tokens = 2, .experts = 8, .used = 1, .x_stride = 257, .y_stride = 11},
                DataType::f32, 3);
}

// One expert has all the tokens, some have none; the same expert twice for a token.
TEST_P(Experts, MayBeCrowdedOrIdle) {
  const uint64_t block = info(GetParam().format).block_elements, cols = block == 1 ? 16 : block;
  check_experts(GetParam(), {.rows = 3, .cols = cols, .tokens = 35, .experts = 3, .used = 2}, DataType::f32, 4,
                std::vector<int32_t>(70, 1));
}

TEST_P(Experts, ThatDoNotExistAreLeftOut) {
  const LinearIdShape shape{.rows = 3, .cols = 256, .tokens = 2, .experts = 3, .used = 2};
  check_experts(GetParam(), shape, DataType::f32, 5, {1, -1, 3, 2147483647});
}

INSTANTIATE_TEST_SUITE_P(Of, Experts,
                         testing::ValuesIn(variants_of(OperationKind::linear_id, {Division::vectors, Division::tiles})),
                         [](const auto& info) { return name_of(info.param); });

TEST(Ids, TheFirstBadOneIsFound) {
  auto problem = LinearIdProblem::random(Format::q8_0, {.rows = 1, .cols = 32, .tokens = 50, .experts = 5, .used = 2},
                                         DataType::f32, 1);
  ASSERT_TRUE(problem);
  for (const bool checked : {true, false}) {
    std::ranges::fill(problem->ids(), 4);
    EXPECT_EQ(*problem->first_bad_id({.checked = checked}), std::nullopt);
    problem->ids()[99] = -1;
    EXPECT_EQ(*problem->first_bad_id({.checked = checked}), 99u);
    problem->ids()[40] = 5;
    EXPECT_EQ(*problem->first_bad_id({.checked = checked}), 40u);
    problem->ids()[0] = INT32_MIN;
    EXPECT_EQ(*problem->first_bad_id({.checked = checked}), 0u);
  }
}

// Rows, bit for bit as the reference decodes them, or rounded once to fp16.
void check_rows(const Variant& v, uint64_t cols, const std::vector<int32_t>& ids, DataType type, float scale,
                uint64_t gap, checker::Blocks blocks) {
  SCOPED_TRACE(testing::Message() << cols << " columns, " << to_string(type) << ", " << checker::to_string(blocks));
  constexpr uint64_t kRows = 7;
  const uint64_t row = uint64_t(*row_bytes(v.format, int64_t(cols)));
  std::vector<std::byte> bytes(kRows * row);
  checker::Random random(cols);
  checker::fill_blocks(v.format, blocks, random, bytes);
  std::vector<float> decoded(kRows * cols);
  info(v.format).decode(bytes.data(), decoded.data(), kRows * cols / info(v.format).block_elements);
  for (const bool checked : {true, false}) {
    const auto rows = run_get_rows(v, type, bytes, cols, row, ids, scale, gap, {.checked = checked, .seed = {}});
    ASSERT_TRUE(rows) << rows.error().message;
    for (const lanes::Fault& fault : rows->outcome.faults) ADD_FAILURE() << to_text(fault);
    for (size_t i = 0; i < ids.size(); ++i) {
      for (uint64_t k = 0; k < cols; ++k) {
        const float result = rows->values[i * cols + k];
        if (ids[i] < 0 || uint64_t(ids[i]) >= kRows) {
          ASSERT_TRUE(std::isnan(result)) << "id " << ids[i];
          continue;
        }
        float expected = decoded[uint64_t(ids[i]) * cols + k] * scale;
        if (type == DataType::f16) expected = half_to_float(float_to_half(expected));
        ASSERT_EQ(std::memcmp(&result, &expected, sizeof result), 0)
            << "row " << ids[i] << ", column " << k << ": " << result << ", expected " << expected;
      }
    }
  }
}

class GetRows : public testing::TestWithParam<Variant> {};

TEST_P(GetRows, GivesTheReferencesBits) {
  const Variant& v = GetParam();
  const uint64_t block = info(v.format).block_elements;
  for (const auto blocks :
       {checker::Blocks::random, checker::Blocks::any_bytes, checker::Blocks::zeros, checker::Blocks::ones}) {
    check_rows(v, 512, {6, 0, 3, 3}, DataType::f32, 1.0f, 0, blocks);
  }
  check_rows(v, block, {5, 1}, DataType::f32, 1.0f, 3, checker::Blocks::random);
  check_rows(v, 1280, {2, 4}, DataType::f16, 1.0f, 1, checker::Blocks::random);
  check_rows(v, 256, {2, 4}, DataType::f32, 22.627417f, 0, checker::Blocks::random);
  if (block == 1) check_rows(v, 37, {1, 6}, DataType::f32, 1.0f, 2, checker::Blocks::random);
}

TEST_P(GetRows, LeavesOutRowsThatDoNotExist) {
  check_rows(GetParam(), 256, {7, -1, 6, INT32_MIN, INT32_MAX}, DataType::f32, 1.0f, 0, checker::Blocks::random);
}

INSTANTIATE_TEST_SUITE_P(Of, GetRows, testing::ValuesIn(variants_of(OperationKind::get_rows, {Division::vectors})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace soffit::metal
