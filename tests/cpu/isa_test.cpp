// Every instruction set by name: the one that is asked for is the one that runs, or this machine lacks it.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

std::vector<InstructionSet> cpu_sets() {
  for (const auto& entry : backends())
    if (entry.name == "cpu") return entry.instruction_sets();
  return {};
}

class NamedIsa : public testing::TestWithParam<InstructionSet> {};
INSTANTIATE_TEST_SUITE_P(Cpu, NamedIsa, testing::ValuesIn(cpu_sets()),
                         [](const auto& p) { return std::string(p.param.name); });

TEST_P(NamedIsa, RunsWhenAskedFor) {
  if (!GetParam().unavailable.empty()) GTEST_SKIP() << GetParam().name << ": " << GetParam().unavailable;
  const auto backend = make_backend({std::string(GetParam().name), false});
  ASSERT_TRUE(backend);
  EXPECT_EQ(backend->isa(), GetParam().name);
  EXPECT_EQ(backend->name(), "cpu");
  for (Format format : all_kernel_formats()) {
    const Support support = backend->supports(OperationKind::linear, format, {32, 256, 1, 1});
    EXPECT_TRUE(support) << support.reason;
    EXPECT_NE(support.kernel.find(info(format).name), std::string::npos);
  }
}

TEST(BestIsa, IsTheLastOneThatCanRun) {
  std::string best;
  for (const auto& set : cpu_sets())
    if (set.unavailable.empty()) best = set.name;
  EXPECT_EQ((*create_backend("cpu", {}))->isa(), best);
  EXPECT_EQ((*create_backend("auto", {}))->name(), backends().front().name);
}

// rten #1046: exact integers on each, so the results of int8 kernels agree but for the order of fp32 sums.
TEST(InstructionSets, AgreeWithTheScalarOne) {
  for (Format format : all_kernel_formats()) {
    const Matrix matrix = Matrix::random(format, 37, 768, 1);
    const auto x = random_x(3 * 768, 2);
    const auto scalar = make_backend({"scalar", false});
    const auto expected = multiply(*scalar, *matrix.upload(*scalar), x);
    float largest = 0;
    for (float v : expected) largest = std::max(largest, std::abs(v));
    for (const Arm& arm : usable_arms()) {
      if (arm.exact) continue;
      const auto backend = make_backend(arm);
      const auto y = multiply(*backend, *matrix.upload(*backend), x);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], 1e-4f * largest) << info(format).name << " on " << arm.isa;
    }
  }
}

}  // namespace
}  // namespace soffit::test
