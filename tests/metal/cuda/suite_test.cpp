// The suite of `soffit check` on the GPU; and again with every kernel on the GPU and on the lanes. Where arithmetic has
// one result and its order is the same, so are the bits; kernels that take exponentials, sines or hyperbolic tangents
// may differ, since each library has its own.
#include "check/suite.hpp"

#include <algorithm>

#include "compared.hpp"
#include "metal/backend.hpp"

namespace soffit::metal {
namespace {

// By the beginning of their names.
constexpr std::string_view kTranscendental[] = {
    "attention", "rotate", "route", "gated_activation", "soft_cap", "finish", "short_convolution", "gated_delta_rule"};

bool has_one_result(std::string_view kernel) {
  return std::ranges::none_of(kTranscendental, [&](std::string_view name) { return kernel.starts_with(name); });
}

void run_suite(Backend& backend, bool quick) {
  checker::SuiteOptions options;
  options.quick = quick;
  checker::Placement placement;
  Backend* list[] = {&backend};
  int cases = 0, failures = 0;
  checker::run_suite(list, options, placement, [&](const checker::Report& report) {
    ++cases;
    if (report.outcome.verdict == checker::Verdict::failed && ++failures <= 20) {
      ADD_FAILURE() << to_string(report.subject.operation) << " " << info(report.subject.format).name << " "
                    << report.subject.rows << " x " << report.subject.cols << " n " << report.subject.n << " ("
                    << report.subject.variant << "): " << report.outcome.reason;
    }
    return true;
  });
  std::printf("%d cases, %d failed\n", cases, failures);
  EXPECT_GT(cases, 0);
  EXPECT_EQ(failures, 0);
}

void run_on_gpu(bool quick) {
  if (const Status available = cuda_available(); !available) GTEST_SKIP() << available.error().message;
  auto gpu = cuda_device(cuda_libraries());
  ASSERT_TRUE(gpu) << gpu.error().message;
  MetalBackend backend("metal-cuda", std::move(*gpu));
  run_suite(backend, quick);
}
TEST(Suite, FewShapes) { run_on_gpu(true); }
TEST(Suite, AllShapes) { run_on_gpu(false); }

class Bits : public Compared {
 protected:
  void run(bool quick) {
    const ComparedDevice& compared = *device_;
    MetalBackend backend("metal-cuda", std::move(device_));
    run_suite(backend, quick);
    report(compared, has_one_result);
  }
};
TEST_F(Bits, FewShapes) { run(true); }
TEST_F(Bits, AllShapes) { run(false); }

}  // namespace
}  // namespace soffit::metal
