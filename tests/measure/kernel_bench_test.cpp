// Figures that agree with one another, and results that are really looked at. No speed is asserted.
#include "measure/kernel_bench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "measure/result_check.hpp"

namespace soffit::measure {
namespace {

class KernelBench : public testing::Test {
 protected:
  RotatingWeights weights(const MatrixDescription& matrix, int64_t copies) {
    auto weights = RotatingWeights::create(*backend_, matrix, Layout::automatic, {copies, ""}, 1, {});
    EXPECT_TRUE(weights) << weights.error().message;
    return *std::move(weights);
  }
  int activation_block(const KernelCase& c) {
    return backend_->supports(c.operation, c.matrix.format, {c.matrix.rows, c.matrix.cols, c.n, c.matrix.experts})
        .activation_block;
  }
  // Changes a byte of a copy where it lies on the backend.
  void damage(const RotatingWeights& weights, size_t copy, size_t byte) {
    const Bytes memory = *roof_->memory(*weights.copies()[copy], 0, 0, 0, weights.matrix().rows);
    const_cast<std::byte&>(memory[byte]) ^= std::byte{0x40};
  }

  std::unique_ptr<Backend> backend_ = *create_backend("cpu", {});
  std::unique_ptr<Roof> roof_ = *Roof::create(*backend_);
};

TEST_F(KernelBench, FiguresOfEveryOperation) {
  const MatrixDescription one{Format::q4_k, 64, 512, 1}, experts{Format::q4_k, 64, 512, 6};
  for (const KernelCase& c : {
           KernelCase{.operation = OperationKind::linear, .matrix = one, .n = 1},
           KernelCase{.operation = OperationKind::linear, .matrix = one, .n = 20, .activations = DataType::f16},
           KernelCase{.operation = OperationKind::linear_id, .matrix = experts, .n = 2, .used = 2},
           KernelCase{.operation = OperationKind::get_rows, .matrix = one, .n = 5},
       }) {
    const auto rotating = weights(c.matrix, 9);
    int reports = 0;
    const KernelOptions options{.samples = 7, .progress = [&](double) { return ++reports, true; }};
    const auto figures = measure_kernel(*backend_, *roof_, rotating, c, Arithmetic::integer8, options);
    ASSERT_TRUE(figures) << figures.error().message;
    const KernelFigures& f = *figures;
    EXPECT_GE(reports, 7);
    EXPECT_TRUE(f.checked);
    EXPECT_LE(f.error_over_bound, 1);
    EXPECT_EQ(f.samples, 7);
    EXPECT_TRUE(0 < f.seconds_low && f.seconds_low <= f.seconds && f.seconds <= f.seconds_high);
    EXPECT_TRUE(0 < f.ratio.low && f.ratio.low <= f.ratio_median && f.ratio_median <= f.ratio.high);
    EXPECT_DOUBLE_EQ(f.gb_per_second, double(f.file_bytes) / f.seconds / 1e9);
    EXPECT_GT(f.roof_gb_per_second, 0);
    EXPECT_GT(f.roof_gflops, 0);
    const double flops = c.operation == OperationKind::get_rows ? 0.0 : 2.0 * 64 * 512 * double(c.result_rows());
    EXPECT_NEAR(f.gflops * f.seconds, flops / 1e9, 1e-12);
    EXPECT_DOUBLE_EQ(f.intensity, flops / double(f.file_bytes));
    EXPECT_DOUBLE_EQ(f.roof_fraction, f.memory_bound ? f.ratio_median : f.gflops / f.roof_gflops);
    EXPECT_FALSE(f.kernel.empty() || f.reader.empty() || f.instruction.empty() || f.layout.empty());
  }
}

TEST_F(KernelBench, StopsWhenAsked) {
  const KernelCase c{.operation = OperationKind::linear, .matrix = {Format::q8_0, 32, 64, 1}};
  const auto rotating = weights(c.matrix, 2);
  const auto stopped =
      measure_kernel(*backend_, *roof_, rotating, c, Arithmetic::integer8, {.progress = [](double) { return false; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::cancelled);
}

TEST_F(KernelBench, WrongWeightsAreAFault) {
  for (const Format format : {Format::q4_k, Format::f16}) {
    const KernelCase c{.operation = OperationKind::linear, .matrix = {format, 32, 256, 1}, .n = 2};
    const auto rotating = weights(c.matrix, 1);
    damage(rotating, 0, 1);  // the high byte of a scale or a weight
    const auto figures = measure_kernel(*backend_, *roof_, rotating, c, Arithmetic::integer8, {.samples = 1});
    ASSERT_TRUE(figures);
    EXPECT_FALSE(figures->checked) << info(format).name;
    EXPECT_GT(figures->error_over_bound, 1) << info(format).name;
  }
}

// NaN compares with nothing: a maximum over results would forget it when a right one comes after it.
TEST_F(KernelBench, ANanIsAFaultWhateverComesAfterIt) {
  for (const OperationKind operation : {OperationKind::linear, OperationKind::get_rows}) {
    const KernelCase c{.operation = operation, .matrix = {Format::f32, 32, 256, 1}, .n = 32};
    const auto rotating = weights(c.matrix, 3);
    const Bytes memory = *roof_->memory(*rotating.copies()[0], 0, 0, 0, 32);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(const_cast<std::byte*>(memory.data()), &nan, sizeof nan);
    const auto figures = measure_kernel(*backend_, *roof_, rotating, c, Arithmetic::float32, {.samples = 3});
    ASSERT_TRUE(figures) << figures.error().message;
    EXPECT_FALSE(figures->checked);
    EXPECT_FALSE(figures->error_over_bound <= 1) << figures->error_over_bound;
  }
}

TEST_F(KernelBench, OneWrongCopyIsAFault) {
  const KernelCase c{.operation = OperationKind::linear, .matrix = {Format::q8_0, 32, 256, 1}, .n = 1};
  const auto rotating = weights(c.matrix, 3);
  auto workload = *Workload::create(*backend_, *roof_, rotating, c, 1);
  ASSERT_TRUE(workload.arrange(1));
  ResultCheck oracle(workload, {activation_block(c)});
  const auto error_of = [&](size_t leg) {
    EXPECT_TRUE(workload.run(leg));
    return *oracle.error_over_bound(leg, 0);
  };
  EXPECT_LE(error_of(0), 1);
  EXPECT_LE(error_of(2), 1);
  damage(rotating, 2, 100);
  EXPECT_LE(error_of(1), 1);
  EXPECT_TRUE(std::isinf(error_of(2)));
}

TEST_F(KernelBench, WrongRowsAreAFault) {
  const KernelCase c{.operation = OperationKind::get_rows, .matrix = {Format::f32, 8, 64, 1}, .n = 8};
  const auto rotating = weights(c.matrix, 1);
  damage(rotating, 0, 5);
  const auto figures = measure_kernel(*backend_, *roof_, rotating, c, Arithmetic::float32, {.samples = 1});
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->checked);
}

TEST_F(KernelBench, EveryFormatIsRight) {
  for (const FormatInfo& format : all_formats()) {
    if (!format.supported) continue;
    const KernelCase c{.operation = OperationKind::linear, .matrix = {Format(format.id), 48, 512, 1}, .n = 9};
    const auto rotating = weights(c.matrix, 2);
    const auto figures = measure_kernel(*backend_, *roof_, rotating, c, Arithmetic::integer8, {.samples = 1});
    ASSERT_TRUE(figures) << figures.error().message;
    EXPECT_TRUE(figures->checked) << format.name << " " << figures->error_over_bound;
    EXPECT_GT(figures->error_over_bound, 0) << format.name;
  }
}

}  // namespace
}  // namespace soffit::measure
