// Short convolutions: taps products added up, gamma(taps + 1) sum |w x|, then the activation's error (bounds.cpp).
#include <cmath>

#include "check/recurrent_rows.hpp"
#include "core/concat.hpp"

namespace soffit::checker {
namespace {

struct ConvolutionCase {
  int64_t channels, taps;
  Activation activation = Activation::silu;
  bool in_place = false;
};

Result<Outcome> run_convolution(const ConvolutionCase& c, bool quick, Backend& backend, Placement& placement) {
  const auto weight = normal_array(81, c.channels * c.taps);
  SOFFIT_TRY(const auto w, InputArray::create(backend, placement, {DataType::f32, c.channels, c.taps, 2}, weight));
  std::vector<std::vector<float>> past(kSequences);  // of each sequence, row after row
  const auto run = [&](const std::vector<Place>& places, State& state, uint64_t seed) -> Result<Outcome> {
    const auto n = int64_t(places.size());
    const auto x = normal_array(seed, n * c.channels);
    SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, n, c.channels, 3}));
    SOFFIT_TRY(const auto from, InputArray::create(backend, placement, {DataType::f32, n, c.channels, 1}, x));
    SOFFIT_TRY(const PlacedRows rows, place_rows(backend, placement, places));
    if (c.in_place) SOFFIT_CHECK(y.set(x));
    std::vector<Value> expected;
    for (int64_t i = 0; i < n; ++i) {
      auto& rows_before = past[size_t(places[size_t(i)].sequence)];
      rows_before.insert(rows_before.end(), x.begin() + i * c.channels, x.begin() + (i + 1) * c.channels);
      const int64_t p = places[size_t(i)].position;
      for (int64_t channel = 0; channel < c.channels; ++channel) {
        double sum = 0, size = 0;
        for (int64_t t = 0; t < c.taps; ++t)
          if (const int64_t q = p - (c.taps - 1) + t; q >= 0) {
            const double term =
                double(weight[size_t(channel * c.taps + t)]) * rows_before[size_t(q * c.channels + channel)];
            sum += term, size += std::fabs(term);
          }
        const Value v{sum, gamma(double(c.taps) + 1) * size + 0x1p-149};
        expected.push_back(c.activation == Activation::none ? v : activated(c.activation, v));
      }
    }
    const Operation operations[] = {ShortConvolution{c.in_place ? y.view() : from.view(), w.view(), c.activation,
                                                     &state, kRecurrentLayer, rows.sequences.view(),
                                                     rows.positions.view(), y.view()}};
    SOFFIT_TRY(const auto plan, backend.plan(operations, {}));
    SOFFIT_CHECK(plan->run());
    return y.compare(expected);
  };
  return run_batches(OperationKind::short_convolution, {c.channels, c.taps, 0, 0, 0}, quick, backend, run);
}

}  // namespace

std::vector<Check> short_convolution_checks(bool quick) {
  std::vector<Check> checks;
  const auto add = [&](const ConvolutionCase& c) {
    std::string variant = concat(c.taps, " taps");
    if (c.activation == Activation::none) variant += ", no activation";
    if (c.in_place) variant += ", in place";
    add_check(checks, {OperationKind::short_convolution, Format::f32, c.taps, c.channels, 70, std::move(variant)},
              [c, quick](Backend& b, Placement& p) { return run_convolution(c, quick, b, p); });
  };
  for (int64_t channels :
       quick ? std::vector<int64_t>{17, 300} : std::vector<int64_t>{1, 15, 16, 17, 255, 256, 257, 600})
    for (int64_t taps : {1, 2, 4}) add({channels, taps});
  add({100, 3, Activation::none});
  add({300, 4, Activation::silu, true});
  add({40, 7, Activation::gelu_tanh});
  return checks;
}

}  // namespace soffit::checker
