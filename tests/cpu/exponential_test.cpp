// The exponential of the kernels is good to 2 ulp, seen through the softmax, and nothing is lost at its ends.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends.hpp"
#include "cpu/kernel_table.hpp"

namespace soffit::test {
namespace {

class Exponential : public testing::TestWithParam<Arm> {
 protected:
  void SetUp() override {
    kernels_ = cpu::kernels_for(*cpu::find_isa(GetParam().isa));
    ASSERT_TRUE(kernels_);
  }
  const cpu::VectorKernels* kernels_ = nullptr;
};
std::vector<Arm> each_isa() {
  std::vector<Arm> arms;
  for (const Arm& arm : usable_arms())
    if (!arm.exact) arms.push_back(arm);
  return arms;
}
INSTANTIATE_TEST_SUITE_P(Cpu, Exponential, testing::ValuesIn(each_isa()), arm_name);

double ulp(double value) { return std::ldexp(1.0, std::ilogb(value) - 23); }

// softmax gives e^(x - 0) * f with f = fl(1 / sum), and f itself where x = 0: the quotient is e^x but for the rounding
// of the product, half an ulp.
TEST_P(Exponential, IsGoodToTwoUlp) {
  double worst = 0;
  float at = 0;
  const int64_t steps = 1 << 21;
  for (int64_t i = 0; i < steps; i += 63) {
    std::vector<float> x(64, 0.0f), p;
    for (int64_t j = 1; j < 64; ++j) x[size_t(j)] = float(-86.9 * double(i + j) / double(steps));
    p = x;
    kernels_->softmax(p.data(), 64);
    for (size_t j = 1; j < 64; ++j) {
      const double exact = std::exp(double(x[j])), error = std::fabs(double(p[j]) / double(p[0]) - exact) / ulp(exact);
      if (error > worst) worst = error, at = x[j];
    }
  }
  EXPECT_LE(worst, 2.5) << "ulp, at " << at;
  RecordProperty("largest_error_ulp", std::to_string(worst));
}

TEST_P(Exponential, SoftmaxOfAnyLengthSumsToOne) {
  for (int64_t n = 1; n <= 70; ++n) {
    std::vector<float> x(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) x[size_t(i)] = float(i % 7) - 1000.0f;
    kernels_->softmax(x.data(), n);
    double sum = 0;
    for (float p : x) sum += double(p);
    EXPECT_NEAR(sum, 1, double(n) * 0x1p-23) << n;
  }
}

TEST_P(Exponential, NaNAndInfinityAreNotSilentlyFinite) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (int64_t n : {1, 2, 16, 17, 33})
      for (int64_t at : {int64_t(0), n - 1, n / 2}) {
        std::vector<float> x(size_t(n), 0.5f);
        x[size_t(at)] = bad;
        kernels_->softmax(x.data(), n);
        for (float p : x) EXPECT_TRUE(std::isnan(p)) << n << " values, the one at " << at << " is " << bad;
      }
  std::vector<float> x = {0, -std::numeric_limits<float>::infinity(), 0};
  kernels_->softmax(x.data(), 3);
  EXPECT_EQ(x[0], 0.5f);
  EXPECT_LT(x[1], 1e-37f);
}

TEST_P(Exponential, GatesAtTheirEnds) {
  const float big = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0f, -0.0f, 100.0f, -100.0f, 1e4f, -1e4f, 1e30f, -1e30f, big, -big, 1e-40f, -1e-40f};
  const std::vector<float> up(x.size(), 1.0f);
  std::vector<float> y(x.size());
  for (Activation activation : {Activation::silu, Activation::gelu_tanh}) {
    kernels_->gate(activation, x.data(), up.data(), y.data(), int64_t(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] >= 100)
        EXPECT_EQ(y[i], x[i]) << x[i];
      else
        EXPECT_NEAR(y[i], 0, 1e-30) << x[i];
    }
    for (float bad : {std::numeric_limits<float>::quiet_NaN(), infinity}) {
      const float one = 1;
      float result = 0;
      kernels_->gate(activation, &bad, &one, &result, 1);
      EXPECT_FALSE(std::isfinite(result));
    }
  }
}

}  // namespace
}  // namespace soffit::test
