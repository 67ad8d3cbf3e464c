// The kernels for few and for many columns of activations: every format, tails in all three dimensions, nothing read
// outside.
#include <gtest/gtest.h>

#include "kernels.hpp"

namespace soffit::metal {
namespace {

class ManyColumns : public testing::TestWithParam<Variant> {
 protected:
  uint64_t block() const { return info(GetParam().format).block_elements; }
  bool tiles() const { return GetParam().division == Division::tiles; }

  void check(const LinearShape& shape, DataType type, uint64_t seed, std::optional<Tuning> tuning = {},
             checker::Blocks blocks = checker::Blocks::random) {
    const Variant& v = GetParam();
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.cols << ", n = " << shape.n << ", "
                                    << to_string(type));
    const Tuning with = tuning.value_or(v.tuning);
    LinearProblem problem = random_problem(v.format, shape, type, seed, blocks);
    expect_clean(run_linear(v, with, shape, type, problem.buffers(), {.seed = seed}));
    expect_right(problem, v.terms);
    // The plain mode does the same arithmetic.
    problem.forget_results();
    ASSERT_TRUE(run_linear(v, with, shape, type, problem.buffers(), {.seed = seed, .contract = false}));
    const auto results = problem.results();
    problem.forget_results();
    ASSERT_TRUE(run_linear(v, with, shape, type, problem.buffers(), {.checked = false, .seed = {}, .threads = 2}));
    EXPECT_EQ(problem.results(), results);
  }
};

TEST_P(ManyColumns, AreRightAtEveryTuning) {
  for (const Tuning& tuning : GetParam().tunings) {
    check({.rows = 70, .cols = 256, .n = tiles() ? 40u : 5u}, DataType::f32, 2, tuning);
    check({.rows = 33, .cols = 512, .n = tiles() ? 17u : 8u}, DataType::f16, 3, tuning);
  }
}

// One block, and three, of K; where weights are numbers any K.
TEST_P(ManyColumns, AreRightForFewOfK) {
  check({.rows = 5, .cols = block(), .n = 3}, DataType::f32, 4);
  check({.rows = 5, .cols = 3 * block(), .n = 9}, DataType::f16, 5);
  if (block() == 1) {
    for (const uint64_t cols : {15, 17, 31, 33, 47, 100}) check({.rows = 2, .cols = cols, .n = 3}, DataType::f32, cols);
  }
}

TEST_P(ManyColumns, AreRightForAnyNumberOfColumns) {
  const Variant& v = GetParam();
  for (uint64_t n = 1; n <= 129; ++n) {
    // Near the edges of tiles; all where a format stands for the others.
    if (n > 10 && (n + 1) % 32 > 2 && n != 16 && v.format != Format::q4_k) continue;
    const LinearShape shape{.rows = 3, .cols = block() == 1 ? 33 : block(), .n = n};
    const DataType type = n % 2 ? DataType::f32 : DataType::f16;
    LinearProblem problem = random_problem(v.format, shape, type, n);
    expect_clean(run_linear(v, v.tuning, shape, type, problem.buffers(), {.seed = n}));
    expect_right(problem, v.terms);
  }
}

TEST_P(ManyColumns, AreRightForRowsThatFillNoTile) {
  const Variant& v = GetParam();
  for (uint64_t rows = 1; rows <= 40; ++rows) {
    const LinearShape shape{.rows = rows, .cols = block() == 1 ? 40 : block(), .n = tiles() ? 9u : 3u};
    LinearProblem problem = random_problem(v.format, shape, DataType::f32, rows);
    expect_clean(run_linear(v, v.tuning, shape, DataType::f32, problem.buffers(), {.seed = rows}));
    expect_right(problem, v.terms);
  }
}

TEST_P(ManyColumns, AreRightForStridesAndBeyondFourGigabytes) {
  const uint64_t row = uint64_t(*row_bytes(GetParam().format, 256));
  check({.rows = 5, .cols = 256, .n = 4, .row_bytes = 2 * row, .x_stride = 259, .y_stride = 7}, DataType::f16, 6);
  check({.rows = 5, .cols = 256, .n = 2, .row_bytes = (uint64_t(1) << 30) + 256}, DataType::f32, 7);
}

TEST_P(ManyColumns, AreRightForBlocksThatNoEncoderWrites) {
  for (const auto blocks : {checker::Blocks::any_bytes, checker::Blocks::zeros, checker::Blocks::ones}) {
    check({.rows = 4, .cols = 256, .n = 3}, DataType::f32, 8, {}, blocks);
  }
}

// fp32 activations stay fp32, so that they may be larger than fp16 has numbers.
TEST_P(ManyColumns, TakeActivationsThatAreNoFp16) {
  const Variant& v = GetParam();
  const LinearShape shape{.rows = 4, .cols = 256, .n = 3};
  LinearProblem problem = random_problem(v.format, shape, DataType::f32, 9);
  problem.set_x(1, 200, 1e5f);
  problem.set_x(2, 17, -3e6f);
  expect_clean(run_linear(v, v.tuning, shape, DataType::f32, problem.buffers(), {}));
  expect_right(problem, v.terms);
}

INSTANTIATE_TEST_SUITE_P(Of, ManyColumns,
                         testing::ValuesIn(variants_of(OperationKind::linear, {Division::columns, Division::tiles})),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace soffit::metal
