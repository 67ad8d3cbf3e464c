// Views whose rows are not one after the other: one row for all, and rows of the same array as x and as y.
#include <gtest/gtest.h>

#include "backends.hpp"
#include "products.hpp"

namespace soffit::test {
namespace {

class Views : public EachArm {
 protected:
  // One row, seen `rows` times.
  static ArrayView repeated(const Array& row, int64_t rows) {
    ArrayView all = row.view;
    all.rows = rows, all.row_stride = 0;
    return all;
  }
  static std::vector<float> copies(const std::vector<float>& row, int64_t rows) {
    std::vector<float> all;
    for (int64_t i = 0; i < rows; ++i) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
};
SOFFIT_FOR_EACH_ARM(Views);

// mlx #3480: a stride of 0 was taken for the row's length. Few rows and many go through different kernels.
TEST_P(Views, OneRowOfXForAll) {
  for (Format format : {Format::f16, Format::q4_0, Format::q6_k, Format::tq2_0})
    for (int64_t n : {4, 40}) {
      const auto weights = Matrix::random(format, 37, 512, 1).upload(*backend_);
      const auto row = random_x(512, 2);
      const Array x = make_array(*backend_, 1, 512, row), y = make_array(*backend_, n, 37);
      const auto activations = make_activations(*backend_, n, *weights);
      run_plan(*backend_,
               {Prepare{repeated(x, n), activations.get()}, Linear{weights.get(), activations.get(), y.view, {}}});
      EXPECT_EQ(read_floats(y), multiply(*backend_, *weights, copies(row, n))) << info(format).name << ", n " << n;
    }
}

TEST_P(Views, OneRowOfTheResidualForAll) {
  constexpr int64_t kRows = 5, kCols = 70;
  const auto values = random_x(kRows * kCols, 3), row = random_x(kCols, 4), weight = random_x(kCols, 5);
  const Array a = make_array(*backend_, kRows, kCols, values), b = make_array(*backend_, 1, kCols, row);
  const Array whole = make_array(*backend_, kRows, kCols, copies(row, kRows));
  const Array w = make_array(*backend_, 1, kCols, weight);
  const Array y = make_array(*backend_, kRows, kCols), expected = make_array(*backend_, kRows, kCols);
  run_plan(*backend_, {Add{a.view, repeated(b, kRows), y.view}, Add{a.view, whole.view, expected.view}});
  EXPECT_EQ(read_floats(y), read_floats(expected));
  EXPECT_NE(read_floats(y), values);
  run_plan(*backend_, {RmsNorm{a.view, w.view, 1e-5f, repeated(b, kRows), y.view, nullptr},
                       RmsNorm{a.view, w.view, 1e-5f, whole.view, expected.view, nullptr}});
  EXPECT_EQ(read_floats(y), read_floats(expected));

  const auto weights = Matrix::random(Format::q8_0, kCols, 64, 6).upload(*backend_);
  const Array x = make_array(*backend_, kRows, 64, random_x(kRows * 64, 7));
  const auto activations = make_activations(*backend_, kRows, *weights);
  Epilogue one, all;
  one.residual = repeated(b, kRows), all.residual = whole.view;
  run_plan(*backend_, {Prepare{x.view, activations.get()}, Linear{weights.get(), activations.get(), y.view, one},
                       Linear{weights.get(), activations.get(), expected.view, all}});
  EXPECT_EQ(read_floats(y), read_floats(expected));
}

// Rows that would be written on top of one another.
TEST_P(Views, OneRowOfResultsForAllIsRefused) {
  const auto weights = Matrix::random(Format::q4_0, 37, 64, 1).upload(*backend_);
  const auto activations = make_activations(*backend_, 4, *weights);
  const Array y = make_array(*backend_, 1, 37);
  const Operation operations[] = {Linear{weights.get(), activations.get(), repeated(y, 4), {}}};
  EXPECT_FALSE(backend_->plan(operations, {}));
}

}  // namespace
}  // namespace soffit::test
