// Values at the edges: larger than fp16, tiny, extreme codes, infinities and NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "backends.hpp"
#include "check/blocks.hpp"
#include "check/bounds.hpp"
#include "check/decoded.hpp"
#include "core/half.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class Range : public EachArm {
 protected:
  // Every result against the oracle; the largest error / bound.
  double check(const Matrix& m, const std::vector<float>& x, Layout layout = Layout::automatic) {
    const auto& d = m.description;
    const auto n = int64_t(x.size()) / d.cols;
    const auto y = multiply(*backend_, *m.upload(*backend_, layout), x);
    const int block = backend_->supports(OperationKind::linear, d.format, {d.rows, d.cols, n, 1}).activation_block;
    double worst = 0;
    for (int64_t r = 0; r < d.rows; ++r) {
      const size_t row_size = m.bytes.size() / size_t(d.rows);
      const auto w = checker::decode_row(d.format, std::span(m.bytes).subspan(size_t(r) * row_size, row_size));
      for (int64_t i = 0; i < n; ++i) {
        const std::vector<double> xd(x.begin() + i * d.cols, x.begin() + (i + 1) * d.cols);
        std::vector<double> e(xd.size());
        checker::activation_errors(xd, block, e);
        checker::ProductSums s;
        for (size_t k = 0; k < xd.size(); ++k) {
          s.exact += w.weight[k] * xd[k], s.rounding += std::fabs(w.weight[k]) * e[k];
          s.decode += std::fabs(w.weight[k] * xd[k]), s.terms += w.magnitude[k] * (std::fabs(xd[k]) + e[k]);
          s.activation += std::fabs(xd[k]) + e[k], s.parts += w.magnitude[k];
        }
        const auto v = checker::product(d.format, d.cols, {block}, s);
        const float result = y[size_t(i * d.rows + r)];
        const double ratio = checker::error_over_bound(result, DataType::f32, v);
        EXPECT_LE(ratio, 1) << info(d.format).name << ", row " << r << ", column " << i << ": " << result
                            << ", expected " << v.exact;
        if (!(ratio <= worst)) worst = ratio;
      }
    }
    return worst;
  }
  static int64_t cols(Format format) { return info(format).block_elements == 256 ? 512 : 96; }
};
SOFFIT_FOR_EACH_ARM(Range);

// llama.cpp #27016: 1e5 is no fp16; the columns around the switch from one kernel to the other.
TEST_P(Range, ValuesBeyondFp16AreRightForAnyNumberOfColumns) {
  for (Format format : all_kernel_formats()) {
    const Matrix m = Matrix::random(format, 17, cols(format), 1);
    for (int64_t n : {1, 2, 7, 8, 9, 17, 63, 64, 65, 129}) {
      auto x = random_x(n * cols(format), 2);
      for (int64_t i = 0; i < n; ++i) x[size_t(i * cols(format) + i % 90)] = i % 2 ? 1e5f : -70000.0f;
      check(m, x);
    }
  }
}

// llama.cpp #21652: the sum of a block overflows fp16.
TEST_P(Range, ConstantBlocksWhoseSumIsNoFp16) {
  for (Format format : all_kernel_formats()) {
    const Matrix m = Matrix::random(format, 17, cols(format), 3);
    for (float value : {2000.0f, -2000.0f, 3000.0f, 1e30f})
      check(m, std::vector<float>(size_t(3 * cols(format)), value));
  }
}

// openvino #34704, rten #1046: the largest codes against the largest activations. All signs agree, so that nothing
// cancels, and int8 activations are exact: the error that is left is that of fp32.
TEST_P(Range, LargestCodesAndActivations) {
  for (Format format : all_kernel_formats())
    for (auto kind : {checker::Blocks::ones, checker::Blocks::zeros})
      for (int64_t columns : {int64_t(256), int64_t(4096)}) {
        Matrix m = Matrix::random(format, 17, columns, 4);
        checker::Random random(5);
        checker::fill_blocks(format, kind, random, m.bytes);
        for (float value : {50.0f, -127.0f, 127.0f}) {
          std::vector<float> x(size_t((columns == 256 ? 9 : 2) * columns), value);
          check(m, x);
          for (size_t k = 0; k < x.size(); k += 2) x[k] = -x[k];
          check(m, x);
          check(m, {x.begin(), x.begin() + columns}, Layout::file);
        }
      }
}

TEST_P(Range, TinyActivations) {
  for (Format format : all_kernel_formats()) {
    const Matrix m = Matrix::random(format, 17, cols(format), 6);
    for (float size : {1e-20f, 1e-37f, 1e-39f, 1e-44f, 1.4e-45f, 0.0f}) {
      auto x = random_x(3 * cols(format), 7);
      for (float& v : x) v *= size;
      check(m, x);
    }
  }
}

TEST_P(Range, ZerosOfBothSignsGiveZero) {
  for (Format format : all_kernel_formats()) {
    const Matrix m = Matrix::random(format, 17, cols(format), 8);
    for (float zero : {0.0f, -0.0f})
      for (float y : multiply(*backend_, *m.upload(*backend_), std::vector<float>(size_t(9 * cols(format)), zero)))
        EXPECT_EQ(y, 0.0f);
  }
}

// llama.cpp #7843: every positive subnormal of fp16 as the scale of a block. Q8_0 with code 1 and 127 in x, whose own
// scale is 1, reads it.
TEST_P(Range, SubnormalScales) {
  Matrix m{{Format::q8_0, 1024, 32, 1}, std::vector<std::byte>(1024 * 34)};
  for (size_t r = 0; r < 1024; ++r) {
    const auto scale = uint16_t(r);
    std::memcpy(&m.bytes[r * 34], &scale, 2);
    m.bytes[r * 34 + 2] = std::byte{1};
  }
  std::vector<float> x(32);
  x[0] = 127;
  for (Layout layout : {Layout::automatic, Layout::file}) {
    const auto y = multiply(*backend_, *m.upload(*backend_, layout), x);
    for (size_t r = 0; r < 1024; ++r) EXPECT_EQ(y[r], 127 * half_to_float(uint16_t(r))) << "scale " << r;
  }
}

// MXFP4 scales from the smallest, an fp32 subnormal, up to the largest whose products are finite.
TEST_P(Range, EveryPowerOfTwoOfMxfp4) {
  Matrix m = Matrix::random(Format::mxfp4, 250, 32, 9);
  for (size_t r = 0; r < 250; ++r) m.bytes[r * 17] = std::byte(r);
  check(m, random_x(32, 10));
}

TEST_P(Range, InfinitiesAndNaNAreNeverSilentlyFinite) {
  for (Format format : all_kernel_formats()) {
    const Matrix m = Matrix::random(format, 33, cols(format), 11);
    const auto weights = m.upload(*backend_);
    for (int64_t n : {1, 9})
      for (float bad : {kInfinity, -kInfinity, kNaN})
        for (int64_t at : {int64_t(0), int64_t(31), cols(format) - 1}) {
          auto x = random_x(n * cols(format), 12);
          x[size_t((n - 1) * cols(format) + at)] = bad;
          const auto y = multiply(*backend_, *weights, x);
          for (int64_t r = 0; r < 33; ++r)
            EXPECT_FALSE(std::isfinite(y[size_t((n - 1) * 33 + r)])) << info(format).name << " x " << bad;
          for (int64_t i = 0; i < (n - 1) * 33; ++i) EXPECT_TRUE(std::isfinite(y[size_t(i)])) << "another column";
        }
  }
}

// Weights may hold NaN or infinite scales; what reads them must show it, and nothing else may.
TEST_P(Range, BadScalesShowInTheirRowAlone) {
  Matrix m = Matrix::random(Format::q4_0, 40, 96, 13);
  const uint16_t scales[] = {0x7e00, 0x7c00, 0xfc00};
  for (size_t i = 0; i < 3; ++i) std::memcpy(&m.bytes[(5 + 13 * i) * 54 + 18], &scales[i], 2);
  const auto y = multiply(*backend_, *m.upload(*backend_), random_x(96, 14));
  for (size_t r = 0; r < 40; ++r) EXPECT_EQ(std::isfinite(y[r]), r != 5 && r != 18 && r != 31) << "row " << r;
}

}  // namespace
}  // namespace soffit::test
