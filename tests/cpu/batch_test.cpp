// Results do not depend on how many columns are computed together, nor on the number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

bool same_bits(const float* a, const float* b, int64_t n) { return std::memcmp(a, b, size_t(n) * sizeof(float)) == 0; }

class Batch : public EachArm {};
SOFFIT_FOR_EACH_ARM(Batch);

// Through a panel the order is another one, but the same for every column, however many there are and wherever it is
// among them.
TEST_P(Batch, ColumnsOfAPanelDoNotDependOnOthers) {
  constexpr int64_t kRows = 40;
  const auto backend = make_backend(GetParam(), 1);
  for (Format format : all_kernel_formats()) {
    const int64_t cols = info(format).block_elements == 256 ? 512 : 544;
    const auto weights = Matrix::random(format, kRows, cols, 7).upload(*backend, Layout::automatic);
    const auto x = random_x(130 * cols, 8);
    const auto all = multiply(*backend, *weights, x);
    for (int64_t n : {17, 18, 19, 20, 21, 22, 23, 31, 32, 33, 63, 64, 65, 129}) {
      for (int64_t first : {int64_t(0), 130 - n}) {
        const auto y = multiply(*backend, *weights, {x.begin() + first * cols, x.begin() + (first + n) * cols});
        ASSERT_TRUE(same_bits(y.data(), &all[size_t(first * kRows)], n * kRows))
            << info(format).name << ", n " << n << " from " << first;
      }
    }
  }
}

TEST_P(Batch, ColumnsEqualSingleCallsBitForBit) {
  constexpr int64_t kRows = 40;
  const auto backend = make_backend(GetParam(), 1);
  for (Format format : all_kernel_formats()) {
    const int64_t cols = info(format).block_elements == 256 ? 512 : 544;
    const Matrix matrix = Matrix::random(format, kRows, cols, 7);
    for (Layout layout : {Layout::automatic, Layout::file}) {
      const auto weights = matrix.upload(*backend, layout);
      const auto x = random_x(16 * cols, 8);
      std::vector<float> single;
      for (int64_t i = 0; i < 16; ++i) {
        const auto y = multiply(*backend, *weights, {x.begin() + i * cols, x.begin() + (i + 1) * cols});
        single.insert(single.end(), y.begin(), y.end());
      }
      for (int64_t n = 2; n <= 16; ++n) {
        const auto y = multiply(*backend, *weights, {x.begin(), x.begin() + n * cols});
        for (int64_t i = 0; i < n; ++i)
          ASSERT_TRUE(same_bits(&y[size_t(i * kRows)], &single[size_t(i * kRows)], kRows))
              << info(format).name << ", " << weights->layout_name(0) << ", n " << n << ", column " << i;
      }
    }
  }
}

// Both layouts are read by the same arithmetic.
TEST_P(Batch, LayoutsAgreeBitForBit) {
  for (Format format : all_kernel_formats()) {
    const Matrix matrix = Matrix::random(format, 37, 768, 9);
    const auto x = random_x(11 * 768, 10);
    EXPECT_EQ(multiply(*backend_, *matrix.upload(*backend_, Layout::automatic), x),
              multiply(*backend_, *matrix.upload(*backend_, Layout::file), x))
        << info(format).name;
  }
}

// Everything a model does, with experts, for a team of any size.
std::vector<float> small_graph(Backend& backend, Format format) {
  constexpr int64_t kN = 9, kCols = 512, kHeads = 4, kDim = 32, kExperts = 6, kUsed = 2;
  const auto qkv = Matrix::random(format, 3 * kHeads * kDim, kCols, 1).upload(backend);
  const auto router = Matrix::random(Format::f32, kExperts, kCols, 2).upload(backend);
  const auto experts = Matrix::random(format, kCols, kCols, 3, kExperts).upload(backend);
  const Array x = make_array(backend, kN, kCols, random_x(kN * kCols, 4));
  const Array weight = make_array(backend, 1, kCols, random_x(kCols, 5));
  const Array heads = make_array(backend, kN, 3 * kHeads * kDim), attended = make_array(backend, kN, kHeads * kDim);
  const Array logits = make_array(backend, kN, kExperts), used = make_array(backend, kN, kUsed);
  const Array ids = make_array(backend, kN, kUsed, std::vector<int32_t>(kN * kUsed));
  const Array mixed = make_array(backend, kN * kUsed, kCols), y = make_array(backend, kN, kCols);
  std::vector<int32_t> positions, sequences(kN, 0);
  for (int32_t i = 0; i < kN; ++i) positions.push_back(i);
  const Array position = make_array(backend, 1, kN, positions), sequence = make_array(backend, 1, kN, sequences);
  const auto a = make_activations(backend, kN, *qkv), b = make_activations(backend, kN, *router),
             c = make_activations(backend, kN, *experts);
  const auto state = *backend.new_state({{KeyValueLayer{kHeads, kDim}}, 1, 16, DataType::f16});
  const ArrayView q = heads.view.columns(0, kHeads * kDim), k = heads.view.columns(kHeads * kDim, kHeads * kDim),
                  v = heads.view.columns(2 * kHeads * kDim, kHeads * kDim);
  RopeParameters rope;
  rope.dimensions = kDim;
  run_plan(backend, {RmsNorm{x.view, weight.view, 1e-5f, {}, {}, a.get()}, Linear{qkv.get(), a.get(), heads.view, {}},
                     Rotate{q, kDim, {}, 0, rope, position.view}, Rotate{k, kDim, {}, 0, rope, position.view},
                     AppendKeyValue{k, v, state.get(), 0, sequence.view, position.view},
                     Attention{q, state.get(), 0, kHeads, 0.2f, 0, sequence.view, position.view, attended.view},
                     Prepare{x.view, b.get()}, Linear{router.get(), b.get(), logits.view, {}},
                     Route{logits.view, ids.view, used.view, 1}, Prepare{x.view, c.get()},
                     LinearId{experts.get(), c.get(), ids.view, false, mixed.view, {}},
                     Combine{mixed.view, used.view, x.view, y.view}});
  auto all = read_floats(y);
  const auto more = read_floats(attended);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_P(Batch, ResultsAreTheSameOnAnyNumberOfThreads) {
  for (Format format : all_kernel_formats()) {
    if (format == Format::f32) continue;
    const auto one = small_graph(*make_backend(GetParam(), 1), format);
    for (float v : one) ASSERT_TRUE(std::isfinite(v));
    for (int threads : {2, 3, 5})
      EXPECT_EQ(small_graph(*make_backend(GetParam(), threads), format), one)
          << info(format).name << " on " << threads << " threads";
  }
}

}  // namespace
}  // namespace soffit::test
