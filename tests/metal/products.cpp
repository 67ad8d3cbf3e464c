#include "products.hpp"

namespace soffit::metal {
namespace {

// Five digits of a TQ1_0 byte are folded into F(k) (y(k-1) - 3 y(k)) for k = 1 … 4, F(5) y(4) and the sum of y, with
// F(k) = floor(3^k byte / 256). So the terms are larger than the products of digits that they add up to. Each has at
// most four roundings of its own (of the coefficient, and of the product with the scale), and there are fewer than 2
// for each column.
double folded_bound(std::span<const std::byte> row, std::span<const double> x) {
  double terms = 0;
  for (size_t block = 0; block * 256 < x.size(); ++block) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(row.data()) + block * 54;
    const double* y = x.data() + block * 256;
    double sum = 0;
    for (size_t b = 0; b < 52; ++b) {
      const size_t first = b < 32 ? b : b < 48 ? 160 + b - 32 : 240 + b - 48, distance = b < 32 ? 32 : b < 48 ? 16 : 4;
      double of[6] = {};
      for (size_t n = 0; n < (b < 48 ? 5u : 4u); ++n) of[n] = std::fabs(y[first + n * distance]);
      double power = 1;
      for (size_t k = 1; k <= 5; ++k) {
        power *= 3;
        sum += std::floor(power * bytes[b] / 256) * (of[k - 1] + 3 * of[k]) + of[k - 1];
      }
    }
    terms += sum * std::fabs(half_to_float(uint16_t(bytes[52] | bytes[53] << 8)));
  }
  return checker::gamma(2 * double(x.size()) + 4) * terms;
}

}  // namespace

double worst_error(const Problem& problem) {
  double worst = 0;
  std::vector<checker::ActivationRow> activations;
  for (uint64_t c = 0; c < problem.shape.n; ++c) {
    std::vector<float> x(problem.shape.cols);
    for (uint64_t k = 0; k < problem.shape.cols; ++k) x[k] = problem.x(c, k);
    activations.emplace_back(std::span<const float>(x), 0);
  }
  for (uint64_t r = 0; r < problem.shape.rows; ++r) {
    const checker::DecodedRow row = checker::decode_row(problem.format, problem.row(r));
    for (uint64_t c = 0; c < problem.shape.n; ++c) {
      checker::Value value = checker::product(problem.format, 0, row, activations[c]);
      if (problem.format == Format::tq1_0) value.bound = folded_bound(problem.row(r), activations[c].x);
      const double ratio = checker::error_over_bound(problem.y(c, r), problem.type, value);
      EXPECT_LE(ratio, 1) << "row " << r << ", vector " << c << ": " << problem.y(c, r) << ", expected " << value.exact;
      if (!(ratio <= worst)) worst = ratio;
    }
  }
  return worst;
}

}  // namespace soffit::metal
