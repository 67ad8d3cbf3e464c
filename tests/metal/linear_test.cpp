// Every variant of the mat-vec kernels is right, at every tuning and at odd shapes, and nothing is wrong with it.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "kernels.hpp"

namespace soffit::metal {
namespace {

class Linear : public testing::TestWithParam<Variant> {
 protected:
  void check(const LinearShape& shape, const Tuning& tuning, DataType type, uint64_t seed,
             checker::Blocks blocks = checker::Blocks::random) {
    const Variant& v = GetParam();
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.cols << ", n = " << shape.n << ", "
                                    << to_string(type) << ", " << tuning.simdgroups << " simdgroups of " << tuning.rows
                                    << " rows");
    LinearProblem problem = random_problem(v.format, shape, type, seed, blocks);
    const auto outcome = run_linear(v, tuning, shape, type, problem.buffers(), {.seed = seed});
    ASSERT_TRUE(outcome) << outcome.error().message;
    for (const lanes::Fault& fault : outcome->faults) ADD_FAILURE() << to_text(fault);
    expect_right(problem, v.terms);

    // The plain mode does the same arithmetic, in any number of threads; the order of lanes makes no difference.
    const LaneOptions arms[] = {{.seed = seed + 1, .contract = false},
                                {.checked = false, .seed = {}},
                                {.checked = false, .seed = {}, .threads = 3}};
    std::vector<float> first;
    for (const LaneOptions& options : arms) {
      problem.forget_results();
      ASSERT_TRUE(run_linear(v, tuning, shape, type, problem.buffers(), options));
      if (first.empty()) first = problem.results();
      EXPECT_EQ(problem.results(), first);
    }
    expect_right(problem, v.terms);
  }
};

TEST_P(Linear, IsRightAtEveryTuning) {
  uint64_t seed = 1;
  for (const Tuning& tuning : GetParam().tunings) {
    check({.rows = 37, .cols = 512}, tuning, DataType::f32, ++seed);
    check({.rows = 9, .cols = 1280}, tuning, DataType::f16, ++seed);
  }
}

TEST_P(Linear, IsRightForRowsThatFillNoThreadgroup) {
  for (uint64_t rows = 1; rows <= 40; ++rows)
    check({.rows = rows, .cols = 256}, GetParam().tuning, DataType::f32, rows);
}

// A block, a few, and what fills no load of neighbours where weights are numbers.
TEST_P(Linear, IsRightForFewColumns) {
  const uint64_t block = info(GetParam().format).block_elements;
  for (const uint64_t cols : {block, 3 * block, 101 * block}) {
    check({.rows = 3, .cols = cols, .n = 2}, GetParam().tuning, DataType::f32, cols);
  }
}

TEST_P(Linear, IsRightForStridesAndSeveralVectors) {
  const uint64_t row = uint64_t(*row_bytes(GetParam().format, 768));
  check({.rows = 5, .cols = 768, .n = 3}, GetParam().tuning, DataType::f32, 1);
  // A row of another matrix lies between; the gap is even, as blocks want to be aligned.
  check({.rows = 5, .cols = 768, .n = 3, .row_bytes = 2 * row, .x_stride = 771, .y_stride = 7}, GetParam().tuning,
        DataType::f16, 2);
}

TEST_P(Linear, IsRightForBlocksThatNoEncoderWrites) {
  for (const auto blocks : {checker::Blocks::any_bytes, checker::Blocks::zeros, checker::Blocks::ones}) {
    check({.rows = 8, .cols = 1024}, GetParam().tuning, DataType::f32, 7, blocks);
  }
}

TEST_P(Linear, ReachesBeyondFourGigabytes) {
  const Variant& v = GetParam();
  // Only the rows' own pages are touched.
  const LinearShape shape{.rows = 5, .cols = 256, .row_bytes = (uint64_t(1) << 30) + 256};
  check(shape, v.tuning, DataType::f32, 3);
}

TEST_P(Linear, TakesActivationsThatAreNoFp16) {
  const Variant& v = GetParam();
  const LinearShape shape{.rows = 4, .cols = 512};
  LinearProblem problem = random_problem(v.format, shape, DataType::f32, 9);
  problem.set_x(0, 300, 1e5f);
  ASSERT_TRUE(run_linear(v, v.tuning, shape, DataType::f32, problem.buffers(), {}));
  expect_right(problem, v.terms);
}

TEST_P(Linear, RefusesWhatItCannotDo) {
  const Variant& v = GetParam();
  const LinearProblem problem = random_problem(v.format, {.rows = 4, .cols = 256}, DataType::f32, 1);
  const auto message = [&](const Tuning& tuning, const LinearShape& shape, DataType type) {
    const auto outcome = run_linear(v, tuning, shape, type, problem.buffers(), {});
    return outcome ? std::string() : outcome.error().message;
  };
  EXPECT_NE(message({3, 2}, {.rows = 4, .cols = 256}, DataType::f32).find("no tuning of 3 simdgroups"),
            std::string::npos);
  if (info(v.format).block_elements > 1) {
    EXPECT_NE(message(v.tuning, {.rows = 4, .cols = 100}, DataType::f32), "");
  }
  EXPECT_NE(message(v.tuning, {.rows = 0, .cols = 256}, DataType::f32), "");
  EXPECT_NE(message(v.tuning, {.rows = 4, .cols = 256}, DataType::bf16).find("there are f32 and f16"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Of, Linear, testing::ValuesIn(variants_of(OperationKind::linear, {Division::vectors})),
                         [](const auto& info) { return name_of(info.param); });

// A fault of the checks themselves: two scales swapped must not pass.
TEST(LinearChecks, NoticeSwappedScales) {
  const Variant& v = *find_variant(OperationKind::linear, Format::q4_k, "seed");
  const LinearShape shape{.rows = 2, .cols = 4096};
  LinearProblem problem = random_problem(v.format, shape, DataType::f32, 4);
  ASSERT_TRUE(run_linear(v, v.tuning, shape, DataType::f32, problem.buffers(), {}));
  const auto row = problem.row(1);
  ASSERT_NE(row[4], row[5]);
  std::swap(row[4], row[5]);
  EXPECT_NONFATAL_FAILURE(expect_right(problem, v.terms), "row 1");
}

// The flattened kernel adds the same terms in another partition: the four-digit bytes are on lanes 16 … 19 instead of 0
// … 3, so a row's sum is rounded elsewhere. Where no sum is rounded, both give the same bits.
TEST(TernaryVariants, DifferInTheLastBitsAndOnlyByRounding) {
  const LinearShape shape{.rows = 64, .cols = 4096};
  const auto results = [&](std::string_view name, bool exact) {
    LinearProblem problem = random_problem(Format::tq1_0, shape, DataType::f32, 11);
    for (uint64_t k = 0; exact && k < shape.cols; ++k) problem.set_x(0, k, float(int(k * 7 % 5) - 2));
    for (uint64_t r = 0; exact && r < shape.rows; ++r) {
      for (size_t at = 52; at < problem.row(r).size(); at += 54) {  // every scale is 1
        problem.row(r)[at] = std::byte(0x00);
        problem.row(r)[at + 1] = std::byte(0x3c);
      }
    }
    const Variant& v = *find_variant(OperationKind::linear, Format::tq1_0, name);
    EXPECT_TRUE(run_linear(v, v.tuning, shape, DataType::f32, problem.buffers(), {}));
    expect_right(problem, v.terms);
    return problem.results();
  };
  EXPECT_NE(results("flat", false), results("regions", false));
  EXPECT_EQ(results("flat", true), results("regions", true));
}

}  // namespace
}  // namespace soffit::metal
