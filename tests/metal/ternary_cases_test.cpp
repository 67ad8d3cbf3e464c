// As many cases of TQ1_0 as the second write-up ran, by name: 17 products, 7 with experts, 4 of rows.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels.hpp"
#include "metal/lane_ids.hpp"

namespace soffit::metal {
namespace {

const Variant& variant(OperationKind operation, std::string_view name) {
  const Variant* found = find_variant(operation, Format::tq1_0, name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}
// The kernel that a product of n columns is for.
std::string_view by_columns(uint64_t n) { return n == 1 ? "best" : n <= 8 ? "columns" : "tiles"; }

struct MulMat {
  uint64_t m, n, k;
};
class TQ1MulMat : public testing::TestWithParam<MulMat> {};
TEST_P(TQ1MulMat, IsRight) {
  const auto [m, n, k] = GetParam();
  const LinearShape shape{.rows = m, .cols = k, .n = n};
  std::vector<std::string_view> names = {by_columns(n)};
  if (n == 1) names = {"best", "flat", "regions"};
  for (const std::string_view name : names) {
    const Variant& v = variant(OperationKind::linear, name);
    const LinearProblem problem = random_problem(Format::tq1_0, shape, DataType::f32, m + n + k);
    expect_clean(run_linear(v, v.tuning, shape, DataType::f32, problem.buffers(), {.seed = n}));
    expect_right(problem, v.terms);
  }
}
constexpr MulMat kMulMat[] = {{16, 1, 256},  {16, 2, 256},  {16, 3, 256},  {16, 4, 256},  {16, 5, 256},  {16, 6, 256},
                              {16, 7, 256},  {16, 8, 256},  {16, 9, 256},  {16, 16, 256}, {1, 64, 256},  {1, 1, 1024},
                              {33, 1, 1280}, {64, 32, 512}, {77, 33, 256}, {129, 2, 768}, {64, 129, 256}};
static_assert(std::size(kMulMat) == 17);
std::string name_of_case(const MulMat& c) {
  const auto [m, n, k] = c;
  return "m" + std::to_string(m) + "_n" + std::to_string(n) + "_k" + std::to_string(k);
}
INSTANTIATE_TEST_SUITE_P(mul_mat, TQ1MulMat, testing::ValuesIn(kMulMat),
                         [](const auto& info) { return name_of_case(info.param); });

struct MulMatId {
  uint64_t experts, used, m, n, k;
  bool per_slot;
};
class TQ1MulMatId : public testing::TestWithParam<MulMatId> {};
TEST_P(TQ1MulMatId, IsRight) {
  const auto [experts, used, m, n, k, per_slot] = GetParam();
  const LinearIdShape shape{.rows = m, .cols = k, .tokens = n, .experts = experts, .used = used, .per_slot = per_slot};
  for (const char* name : {"best", "tiles"}) {
    const Variant& v = variant(OperationKind::linear_id, name);
    const auto problem = LinearIdProblem::random(Format::tq1_0, shape, DataType::f32, n);
    ASSERT_TRUE(problem);
    expect_clean(problem->run(v, v.tuning, {.seed = n}));
    expect_right(problem->worst_result(v.terms));
  }
}
constexpr MulMatId kMulMatId[] = {{4, 1, 32, 1, 256, false},  {4, 2, 32, 1, 256, true},  {4, 2, 64, 5, 256, false},
                                  {4, 4, 16, 17, 256, false}, {8, 2, 16, 32, 256, true}, {8, 1, 33, 33, 256, false},
                                  {2, 2, 16, 64, 512, false}};
static_assert(std::size(kMulMatId) == 7);
std::string name_of_case(const MulMatId& c) {
  const auto [experts, used, m, n, k, per_slot] = c;
  return "experts" + std::to_string(experts) + "_used" + std::to_string(used) + "_m" + std::to_string(m) + "_n" +
         std::to_string(n) + "_k" + std::to_string(k) + (per_slot ? "_per_slot" : "");
}
INSTANTIATE_TEST_SUITE_P(mul_mat_id, TQ1MulMatId, testing::ValuesIn(kMulMatId),
                         [](const auto& info) { return name_of_case(info.param); });

struct RowsOf {
  uint64_t rows, taken, k;
};
class TQ1GetRows : public testing::TestWithParam<RowsOf> {};
TEST_P(TQ1GetRows, IsExact) {
  const auto [rows, taken, k] = GetParam();
  const uint64_t row = uint64_t(*row_bytes(Format::tq1_0, int64_t(k)));
  std::vector<std::byte> bytes(rows * row);
  checker::Random random(k);
  checker::fill_blocks(Format::tq1_0, checker::Blocks::random, random, bytes);
  std::vector<int32_t> ids(taken);
  for (int32_t& id : ids) id = int32_t(random.below(int64_t(rows)));
  const auto result =
      run_get_rows(variant(OperationKind::get_rows, "strips"), DataType::f32, bytes, k, row, ids, 1.0f, 0, {.seed = 1});
  ASSERT_TRUE(result);
  for (const lanes::Fault& fault : result->outcome.faults) ADD_FAILURE() << to_text(fault);
  std::vector<float> expected(k);
  for (size_t i = 0; i < taken; ++i) {
    info(Format::tq1_0).decode(bytes.data() + uint64_t(ids[i]) * row, expected.data(), k / 256);
    EXPECT_EQ(std::memcmp(expected.data(), &result->values[i * k], k * sizeof(float)), 0) << "row " << ids[i];
  }
}
constexpr RowsOf kRowsOf[] = {{1, 1, 256}, {5, 4, 256}, {80, 33, 256}, {7, 16, 1024}};
std::string name_of_case(const RowsOf& c) {
  const auto [rows, taken, k] = c;
  return "rows" + std::to_string(rows) + "_taken" + std::to_string(taken) + "_k" + std::to_string(k);
}
INSTANTIATE_TEST_SUITE_P(get_rows, TQ1GetRows, testing::ValuesIn(kRowsOf),
                         [](const auto& info) { return name_of_case(info.param); });

}  // namespace
}  // namespace soffit::metal
