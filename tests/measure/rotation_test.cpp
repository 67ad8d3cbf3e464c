// Weights rotate over as many bytes as is said, and no two operations of a round read the same ones.
#include "measure/rotation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "measure/workload.hpp"

namespace soffit::measure {
namespace {

using testing::HasSubstr;

TEST(PlanRotation, CopiesAddUpToWhatIsAsked) {
  const Rotation exact = *plan_rotation(1000, 100, 1'000'000);
  EXPECT_EQ(exact.copies, 10);
  EXPECT_EQ(exact.shortfall, "");
  EXPECT_EQ((*plan_rotation(1001, 100, 1'000'000)).copies, 11);
  EXPECT_EQ((*plan_rotation(0, 100, 1'000'000)).copies, 1);
  EXPECT_EQ((*plan_rotation(99, 100, 1'000'000)).copies, 1);
}

TEST(PlanRotation, SaysWhenMemoryOrMappingsAreTooFew) {
  // Half of the memory, one copy of which is the file's.
  const Rotation memory = *plan_rotation(2'000'000'000, 100'000'000, 1'000'000'000);
  EXPECT_EQ(memory.copies, 4);
  EXPECT_THAT(memory.shortfall, HasSubstr("400 MB instead of 2000 MB"));
  EXPECT_THAT(memory.shortfall, HasSubstr("1000 MB of memory"));
  const Rotation mappings = *plan_rotation(2'000'000'000, 10'000, 64'000'000'000);
  EXPECT_EQ(mappings.copies, kMostCopies);
  EXPECT_THAT(mappings.shortfall, HasSubstr("16384"));
  const auto none = plan_rotation(0, 300'000'000, 1'000'000'000);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::out_of_memory);
  EXPECT_FALSE(plan_rotation(100, 0, 1'000'000'000));
}

// Begin and end of what a leg reads.
using Range = std::pair<const std::byte*, const std::byte*>;

void expect_rotation(const KernelCase& kernel_case, int64_t copies, int64_t together, uint64_t whole_bytes) {
  const auto backend = *create_backend("cpu", {});
  const auto roof = *Roof::create(*backend);
  const auto weights = RotatingWeights::create(*backend, kernel_case.matrix, Layout::automatic, {copies, ""}, 1, {});
  ASSERT_TRUE(weights) << weights.error().message;
  auto workload = Workload::create(*backend, *roof, *weights, kernel_case, 1);
  ASSERT_TRUE(workload) << workload.error().message;
  const Status arranged = workload->arrange(together);
  ASSERT_TRUE(arranged) << arranged.error().message;
  std::vector<Range> ranges;
  uint64_t bytes = 0;
  for (size_t leg = 0; leg < workload->legs(); ++leg) {
    uint64_t of_leg = 0;
    for (const Bytes region : workload->regions(leg)) {
      ranges.emplace_back(region.data(), region.data() + region.size());
      of_leg += region.size();
    }
    EXPECT_EQ(of_leg, uint64_t(workload->operations()) * workload->file_bytes());
    bytes += of_leg;
  }
  EXPECT_EQ(bytes, workload->rotated_bytes());
  EXPECT_EQ(bytes, whole_bytes);
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_LE(ranges[i - 1].second, ranges[i].first);
}

TEST(Rotation, LinearReadsEveryCopyOnce) {
  const MatrixDescription matrix{Format::q4_k, 64, 512, 1};
  expect_rotation({.operation = OperationKind::linear, .matrix = matrix, .n = 3}, 7, 1, 7 * *matrix_bytes(matrix));
  // 7 copies in legs of 2: one is left out.
  expect_rotation({.operation = OperationKind::linear, .matrix = matrix, .n = 1}, 7, 2, 6 * *matrix_bytes(matrix));
  expect_rotation({.operation = OperationKind::linear, .matrix = matrix, .n = 1}, 3, 50, 3 * *matrix_bytes(matrix));
}

TEST(Rotation, ExpertsTakeTurns) {
  const MatrixDescription matrix{Format::q8_0, 32, 64, 12};
  const uint64_t all = *matrix_bytes(matrix);
  expect_rotation({.operation = OperationKind::linear_id, .matrix = matrix, .n = 1, .used = 3}, 2, 2, 2 * all);
  // 5 of 12 twice; two are left over.
  expect_rotation({.operation = OperationKind::linear_id, .matrix = matrix, .n = 1, .used = 5}, 1, 1, all / 12 * 10);
  expect_rotation({.operation = OperationKind::linear_id, .matrix = matrix, .n = 1, .used = 12}, 3, 1, 3 * all);
}

TEST(Rotation, RowsTakeTurns) {
  const MatrixDescription matrix{Format::q6_k, 100, 256, 1};
  expect_rotation({.operation = OperationKind::get_rows, .matrix = matrix, .n = 7}, 2, 4,
                  *matrix_bytes(matrix) / 100 * 7 * 28);
}

TEST(Rotation, RefusesWhatCannotBe) {
  const auto backend = *create_backend("cpu", {});
  const auto roof = *Roof::create(*backend);
  const MatrixDescription matrix{Format::q8_0, 32, 64, 4};
  const auto weights = *RotatingWeights::create(*backend, matrix, Layout::automatic, {1, ""}, 1, {});
  for (const KernelCase& wrong : {
           KernelCase{.operation = OperationKind::linear_id, .matrix = matrix, .n = 1, .used = 5},
           KernelCase{.operation = OperationKind::linear_id, .matrix = matrix, .n = 0, .used = 1},
           KernelCase{.operation = OperationKind::linear, .matrix = matrix, .n = 1},
           KernelCase{.operation = OperationKind::get_rows, .matrix = {Format::q8_0, 32, 64, 1}, .n = 33},
       }) {
    const auto workload = Workload::create(*backend, *roof, weights, wrong, 1);
    ASSERT_FALSE(workload);
    EXPECT_EQ(workload.error().code, Code::invalid_argument);
  }
}

}  // namespace
}  // namespace soffit::measure
