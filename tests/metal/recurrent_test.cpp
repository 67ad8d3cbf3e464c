// Layers that remember, over two batches of interleaved sequences, against double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "graph_arrays.hpp"
#include "metal/graph_arguments.h"

namespace soffit::metal {
namespace {

// Two sequences in turn, the second one from the second row on; and a row that belongs to none.
const std::vector<int32_t> kSequences[2] = {{0, 0, 1, 0, 1}, {1, 0, 2, 1, 0}};
const std::vector<int32_t> kPositions[2] = {{0, 1, 0, 2, 1}, {2, 3, 0, 3, 4}};
constexpr size_t kBatchRows = 5;

TEST(Recurrent, ShortConvolution) {
  constexpr size_t kChannels = 70;
  for (const uint32_t taps : {1, 2, 4}) {
    const auto weight = normal(1, kChannels * taps);
    // The state holds what must not be seen at position 0.
    Array<float> weights(weight), past(std::vector<float>(std::max<size_t>(2 * (taps - 1) * kChannels, 1), 9.0f));
    std::vector<std::vector<double>> inputs[2];  // of each sequence, by position
    for (size_t batch = 0; batch < 2; ++batch) {
      const auto x = normal(2 + batch, kBatchRows * kChannels);
      Array<float> to(x);
      Array<int32_t> sequences(kSequences[batch]), positions(kPositions[batch]);
      const uint32_t gate = batch == 0 ? 1 : 0;
      const ConvolutionArguments arguments{kChannels, taps, kChannels, kBatchRows, kChannels, taps, gate, 2, 10};
      const auto y = run("short_convolution", arguments,
                         {&to.memory, &weights.memory, &past.memory, &sequences.memory, &positions.memory, &to.memory},
                         to, {.rows = kBatchRows, .columns = kChannels}, {&past});
      for (size_t r = 0; r < kBatchRows; ++r) {
        const auto s = size_t(kSequences[batch][r]);
        if (s > 1) {
          for (size_t c = 0; c < kChannels; ++c) EXPECT_EQ(y[r * kChannels + c], x[r * kChannels + c]);
          continue;
        }
        inputs[s].emplace_back(&x[r * kChannels], &x[(r + 1) * kChannels]);
        const auto position = size_t(kPositions[batch][r]);
        ASSERT_EQ(inputs[s].size(), position + 1);
        for (size_t c = 0; c < kChannels; ++c) {
          double sum = 0, size = 0;
          for (size_t t = 0; t < taps; ++t) {
            if (position + t + 1 < taps) continue;
            const double term = double(weight[c * taps + t]) * inputs[s][position + t + 1 - taps][c];
            sum += term, size += std::fabs(term);
          }
          Value value{sum, gamma(taps + 1) * size};
          if (gate) value = checker::activated(Activation::silu, value);
          expect_right(y[r * kChannels + c], value, c);
        }
      }
    }
  }
}

TEST(Recurrent, RowsAreTheNextOnes) {
  const auto fault_of = [](const std::vector<int32_t>& s, const std::vector<int32_t>& p) {
    Array<int32_t> sequences(s), positions(p), next({0, 3});
    Array<uint32_t> fault({99});
    return run("check_rows", RowsArguments{uint32_t(s.size()), 2, 5},
               {&sequences.memory, &positions.memory, &next.memory, &fault.memory}, fault, {}, {&next})[0];
  };
  EXPECT_EQ(fault_of({0, 1, 0, 1}, {0, 3, 1, 4}), 0u);
  EXPECT_EQ(fault_of({0, 1, 0}, {0, 3, 2}), 3u);
  EXPECT_EQ(fault_of({0, 2}, {0, 0}), 2u);
  EXPECT_EQ(fault_of({-1}, {0}), 1u);
  EXPECT_EQ(fault_of({1, 1, 1}, {3, 4, 5}), 3u);  // no room
}

// A column's matrix never grows by more than b |v| a row: alpha and the length of I - b k k^T are at most 1. Errors
// only add up for the same reason. In a row they are at most those of a dot product over keys that are normalised, and
// of the update,
//   gamma(4 keys + 40 + 4 |rate softplus|) (what there is + 2 |v|),
// the last of the exponential's argument.
TEST(Recurrent, GatedDeltaRule) {
  constexpr size_t kHeads = 4, kKeyHeads = 2, kKeys = 40, kValues = 48;
  const auto rate_size = normal(9, kHeads), bias = normal(10, kHeads);
  std::vector<float> rate;
  for (const float r : rate_size) rate.push_back(-std::fabs(r) - 0.01f);
  Array<float> rates(rate), biases(bias), state(std::vector<float>(2 * kHeads * kKeys * kValues, 5.0f));
  std::vector<double> exact(2 * kHeads * kKeys * kValues, 0.0), bound(2 * kHeads * kValues, 0.0), size = bound;
  for (size_t batch = 0; batch < 2; ++batch) {
    const auto q = normal(20 + batch, kBatchRows * kKeyHeads * kKeys), k = normal(22 + batch, q.size());
    const auto v = normal(24 + batch, kBatchRows * kHeads * kValues);
    auto time = normal(26 + batch, kBatchRows * kHeads, 3), beta = normal(28 + batch, kBatchRows * kHeads, 2);
    time[0] = -40, time[1] = 30;
    Array<float> qs(q), ks(k), vs(v), times(time), betas(beta), to(std::vector<float>(v.size(), kUnset));
    Array<int32_t> sequences(kSequences[batch]), positions(kPositions[batch]);
    constexpr float kEpsilon = 1e-6f, kScale = 0.15f;
    const DeltaRuleArguments arguments{kKeyHeads * kKeys,
                                       kKeyHeads * kKeys,
                                       kHeads * kValues,
                                       kHeads,
                                       kHeads,
                                       kHeads * kValues,
                                       kBatchRows,
                                       kHeads,
                                       kKeyHeads,
                                       kKeys,
                                       kValues,
                                       2,
                                       10,
                                       kEpsilon,
                                       kScale,
                                       0};
    const auto y = run("gated_delta_rule", arguments,
                       {&qs.memory, &ks.memory, &vs.memory, &times.memory, &betas.memory, &rates.memory, &biases.memory,
                        &state.memory, &sequences.memory, &positions.memory, &to.memory},
                       to, {.rows = kHeads, .columns = kValues, .head_dim = kKeys}, {&state});
    for (size_t r = 0; r < kBatchRows; ++r) {
      const auto s = size_t(kSequences[batch][r]);
      for (size_t h = 0; h < kHeads; ++h) {
        const float* result = &y[(r * kHeads + h) * kValues];
        if (s > 1) {
          for (size_t j = 0; j < kValues; ++j) EXPECT_TRUE(std::isnan(result[j]));
          continue;
        }
        const auto normalised = [&](const std::vector<float>& from) {
          std::vector<double> to_unit(&from[(r * kKeyHeads + h % kKeyHeads) * kKeys],
                                      &from[(r * kKeyHeads + h % kKeyHeads) * kKeys] + kKeys);
          double squares = 0;
          for (const double e : to_unit) squares += e * e;
          for (double& e : to_unit) e /= std::max(std::sqrt(squares), double(kEpsilon));
          return to_unit;
        };
        const auto query = normalised(q), key = normalised(k);
        const double softplus = std::log1p(std::exp(double(time[r * kHeads + h]) + double(bias[h])));
        const double alpha = std::exp(double(rate[h]) * softplus);
        const double b = 1 / (1 + std::exp(-double(beta[r * kHeads + h])));
        const double step = gamma(4 * kKeys + 40 + 4 * std::fabs(double(rate[h])) * softplus);
        for (size_t j = 0; j < kValues; ++j) {
          double* column = &exact[(s * kHeads + h) * kKeys * kValues + j];
          double u = 0, sum = 0;
          for (size_t i = 0; i < kKeys; ++i) u += column[i * kValues] * key[i];
          const double value = double(v[(r * kHeads + h) * kValues + j]);
          for (size_t i = 0; i < kKeys; ++i) {
            column[i * kValues] = alpha * column[i * kValues] + b * key[i] * (value - alpha * u);
            sum += column[i * kValues] * query[i];
          }
          double &error = bound[(s * kHeads + h) * kValues + j], &there = size[(s * kHeads + h) * kValues + j];
          error += step * (there + 2 * std::fabs(value));
          there += std::fabs(value);
          expect_right(result[j], {double(kScale) * sum, double(kScale) * (error + step * there)}, j);
        }
      }
    }
  }
}

}  // namespace
}  // namespace soffit::metal
