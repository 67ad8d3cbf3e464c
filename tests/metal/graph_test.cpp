// The kernels around the products, against double precision; both modes give the same bits, in any order of lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "core/half.hpp"
#include "graph_arrays.hpp"
#include "metal/graph_arguments.h"
#include "metal/rope_turns.hpp"
#include "ops/rope.hpp"

namespace soffit::metal {
namespace {

TEST(Graph, RmsNorm) {
  constexpr size_t kRows = 3;
  for (const size_t cols : {1, 31, 64, 300, 1031}) {
    for (const bool with_residual : {false, true}) {
      const auto x = normal(1, kRows * cols, 3), weight = normal(2, cols), residual = normal(3, kRows * cols);
      Array<float> from(x), weights(weight), added(residual), to(std::vector<float>(kRows * (cols + 2), kUnset));
      RmsNormArguments arguments{cols, cols, cols + 2, uint32_t(cols), 1e-5f, with_residual, 0};
      const auto y = run("rms_norm", arguments, {&from.memory, &weights.memory, &added.memory, &to.memory}, to,
                         {.rows = kRows, .columns = cols});
      Array<float> in_place(x);
      arguments.y_stride = cols;
      const auto same = run("rms_norm", arguments, {&in_place.memory, &weights.memory, &added.memory, &in_place.memory},
                            in_place, {.rows = kRows, .columns = cols});
      // The squares' sums: each thread's, then 5 + 5 additions of pairs. The root halves it; six roundings more.
      const double roundings = (std::ceil(double(cols) / 256) + 11) / 2 + 6;
      for (size_t r = 0; r < kRows; ++r) {
        double sum = 0;
        for (size_t i = 0; i < cols; ++i) sum += double(x[r * cols + i]) * double(x[r * cols + i]);
        const double factor = 1 / std::sqrt(sum / double(cols) + double(1e-5f));
        for (size_t i = 0; i < cols; ++i) {
          const double exact = double(x[r * cols + i]) * factor * double(weight[i]);
          Value value{exact, gamma(roundings) * std::fabs(exact)};
          if (with_residual) value = checker::plus(value, double(residual[r * cols + i]));
          expect_right(y[r * (cols + 2) + i], value, i);
          EXPECT_EQ(same[r * cols + i], y[r * (cols + 2) + i]);
        }
        EXPECT_TRUE(r + 1 == kRows || std::isnan(y[r * (cols + 2) + cols]));
      }
    }
  }
}

// At any position: what a float of 10^6 radians cannot hold, turns in two parts do.
TEST(Graph, Rotate) {
  constexpr size_t kHeads = 3, kDim = 48;
  const std::vector<int32_t> positions = {0, 1, 77, 4095, 131071, 1000003};
  for (const uint32_t kind : {0, 1, 2, 3}) {
    RopeParameters rope;
    rope.dimensions = kind == 2 ? 32 : 48;
    rope.base = kind == 1 ? 1e6f : 1e4f;
    rope.pairs = kind % 2 ? RopeParameters::Pairs::adjacent : RopeParameters::Pairs::halves;
    std::vector<float> factors;
    if (kind == 3) {
      rope.extrapolation = 1, rope.frequency_scale = 0.25f, rope.original_context = 4096;
      for (int i = 0; i < 24; ++i) factors.push_back(1.0f + 0.125f * float(i));
    }
    const bool with_norm = kind != 0;
    const float* factor = factors.empty() ? nullptr : factors.data();
    const RopeTable table = rope_turns(rope, factor);
    const size_t rows = positions.size(), width = kHeads * kDim;
    const auto x = normal(4, rows * width), norm = normal(5, kDim);
    Array<float> to(x), norms(norm);
    Array<Turns> turns(table.turns);
    Array<int32_t> places(positions);
    const RotateArguments arguments{width, kDim,           uint32_t(rope.dimensions / 2), kind % 2, with_norm,
                                    1e-6f, table.magnitude};
    const auto y = run("rotate_heads", arguments, {&to.memory, &norms.memory, &turns.memory, &places.memory}, to,
                       {.rows = rows, .columns = kHeads});
    const auto pairs = size_t(rope.dimensions / 2);
    std::vector<float> cosine(pairs), sine(pairs);
    for (size_t r = 0; r < rows; ++r) {
      rope_angles(rope, factor, positions[r], cosine.data(), sine.data());
      for (size_t h = 0; h < kHeads; ++h) {
        const float* head = &x[r * width + h * kDim];
        double sum = 0;
        for (size_t i = 0; i < kDim; ++i) sum += double(head[i]) * double(head[i]);
        const double normed = with_norm ? 1 / std::sqrt(sum / kDim + 1e-6) : 1;
        const auto value = [&](size_t i) { return double(head[i]) * normed * (with_norm ? double(norm[i]) : 1.0); };
        const auto result = [&](size_t i) { return y[r * width + h * kDim + i]; };
        for (size_t p = 0; p < pairs; ++p) {
          const size_t a = kind % 2 ? 2 * p : p, b = kind % 2 ? 2 * p + 1 : p + pairs;
          // The reference's angles are good to 4e-7, as are these; the norm has 14 roundings, the sums three.
          const double bound = (std::fabs(value(a)) + std::fabs(value(b))) *
                               (8e-7 * double(table.magnitude) + gamma(17) * double(table.magnitude));
          expect_right(result(a), {value(a) * double(cosine[p]) - value(b) * double(sine[p]), bound}, a);
          expect_right(result(b), {value(a) * double(sine[p]) + value(b) * double(cosine[p]), bound}, b);
        }
        for (size_t i = 2 * pairs; i < kDim; ++i)
          expect_right(result(i), {value(i), gamma(14) * std::fabs(value(i))}, i);
      }
    }
  }
}

TEST(Graph, GatedActivation) {
  constexpr size_t kRows = 2, kCols = 131;
  auto gate = normal(6, kRows * kCols, 4);
  gate[0] = -200, gate[1] = 100, gate[2] = 0, gate[3] = -20;
  const auto up = normal(7, kRows * kCols);
  Array<float> gates(gate), ups(up), to(std::vector<float>(kRows * kCols, kUnset));
  for (const bool gelu : {false, true}) {
    const GatedArguments arguments{kCols, kCols, kCols, kCols, gelu};
    const auto y = run("gated_activation", arguments, {&gates.memory, &ups.memory, &to.memory}, to,
                       {.rows = kRows, .columns = kCols});
    for (size_t i = 0; i < y.size(); ++i) {
      const auto kind = gelu ? Activation::gelu_tanh : Activation::silu;
      expect_right(y[i], checker::gated(kind, {double(gate[i]), 0}, {double(up[i]), 0}), i);
    }
  }
}

TEST(Graph, Epilogue) {
  constexpr size_t kRows = 3, kCols = 70;
  const auto x = normal(8, kRows * 2 * kCols), bias = normal(9, 2 * kCols), residual = normal(10, kRows * kCols);
  Array<float> from(x), biases(bias), added(residual), to(std::vector<float>(kRows * kCols, kUnset));
  for (uint32_t gate = 0; gate < 3; ++gate) {
    for (const bool with_bias : {false, true}) {
      for (const bool with_residual : {false, true}) {
        const EpilogueArguments arguments{2 * kCols, kCols, kCols, kCols, 0.75f, with_bias, with_residual, gate, 0};
        const auto y = run("epilogue", arguments, {&from.memory, &biases.memory, &added.memory, &to.memory}, to,
                           {.rows = kRows, .columns = kCols});
        for (size_t i = 0; i < y.size(); ++i) {
          const auto part = [&](size_t at) {
            Value v = checker::scaled({double(x[i / kCols * 2 * kCols + at]), 0}, 0.75);
            return with_bias ? checker::plus(v, double(bias[at])) : v;
          };
          Value value = part(i % kCols);
          if (gate) {
            const auto kind = gate == 2 ? Activation::gelu_tanh : Activation::silu;
            value = checker::gated(kind, value, part(kCols + i % kCols));
          }
          if (with_residual) value = checker::plus(value, double(residual[i]));
          expect_right(y[i], value, i);
        }
      }
    }
  }
}

TEST(Graph, Route) {
  constexpr size_t kRows = 5;
  struct Case {
    uint32_t experts, used;
  };
  for (const auto [experts, used] : {Case{1, 1}, {8, 2}, {31, 31}, {64, 8}, {128, 8}, {1000, 32}}) {
    auto logits = normal(11, kRows * (experts + 3), 3);
    for (uint32_t e = 0; e < experts; ++e) logits[e] = float(e % 3);                // ties
    for (uint32_t e = 0; e < experts; ++e) logits[experts + 3 + e] = -2.5f;         // all alike
    for (uint32_t e = 0; e < experts; ++e) logits[2 * (experts + 3) + e] *= 30.0f;  // one has it all
    Array<float> from(logits), to(std::vector<float>(kRows * used, kUnset));
    Array<int32_t> ids(std::vector<int32_t>(kRows * used, -1));
    const RouteArguments arguments{experts + 3, used, used, experts, used, 2.5f, 0};
    const std::vector<const lanes::DeviceMemory*> buffers = {&from.memory, &ids.memory, &to.memory};
    const auto weights = run("route", arguments, buffers, to, {.rows = kRows});
    const auto chosen = ids.values();
    for (size_t r = 0; r < kRows; ++r) {
      const float* row = &logits[r * (experts + 3)];
      std::vector<int32_t> order(experts);
      for (uint32_t e = 0; e < experts; ++e) order[e] = int32_t(e);
      std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return row[a] > row[b]; });
      double sum = 0;
      for (uint32_t j = 0; j < used; ++j) sum += std::exp(double(row[order[j]]) - double(row[order[0]]));
      for (uint32_t j = 0; j < used; ++j) {
        EXPECT_EQ(chosen[r * used + j], order[j]) << "place " << j << " of row " << r << ", " << experts << " experts";
        const double below = double(row[order[0]]) - double(row[order[j]]);
        const double exact = std::exp(-below) / sum * 2.5;
        // The difference's rounding moves the exponential by u * below, which has 2 ulp of its own; likewise in the
        // sum, of which no term is off by more than its share; five additions, a quotient, a product.
        const double bound = (kUnit * (below + 20) + gamma(4 + 5 + 2)) * exact + 0x1p-120;
        expect_right(weights[r * used + j], {exact, bound}, r * used + j);
      }
    }
  }
}

TEST(Graph, CombineAndGather) {
  constexpr size_t kRows = 3, kUsed = 4, kCols = 65;
  const auto x = normal(12, kRows * kUsed * kCols), weights = normal(13, kRows * kUsed);
  const auto residual = normal(14, kRows * kCols);
  for (const bool with_residual : {false, true}) {
    Array<float> from(x), factors(weights), to(residual);
    const CombineArguments arguments{kCols, kUsed, kCols, kCols, kCols, kUsed, with_residual, 0};
    const auto y = run("combine", arguments, {&from.memory, &factors.memory, &to.memory, &to.memory}, to,
                       {.rows = kRows, .columns = kCols});
    for (size_t i = 0; i < y.size(); ++i) {
      double sum = with_residual ? double(residual[i]) : 0, size = std::fabs(sum);
      for (size_t j = 0; j < kUsed; ++j) {
        const size_t slot = i / kCols * kUsed + j;
        const double term = double(weights[slot]) * double(x[slot * kCols + i % kCols]);
        sum += term, size += std::fabs(term);
      }
      expect_right(y[i], {sum, gamma(kUsed + 1) * size}, i);
    }
  }
  const std::vector<int32_t> ids = {2, 0, -1, 11, 12, 2};
  Array<float> from(x), to(std::vector<float>(ids.size() * (kCols + 1), kUnset));
  Array<int32_t> id_array(ids);
  const auto y = run("gather", GatherArguments{kCols, kCols + 1, kCols, kRows * kUsed},
                     {&from.memory, &id_array.memory, &to.memory}, to, {.rows = ids.size(), .columns = kCols});
  for (size_t r = 0; r < ids.size(); ++r) {
    for (size_t i = 0; i < kCols; ++i) {
      const float result = y[r * (kCols + 1) + i];
      if (ids[r] < 0 || ids[r] >= 12) {
        EXPECT_TRUE(std::isnan(result));
      } else {
        EXPECT_EQ(result, x[size_t(ids[r]) * kCols + i]);
      }
    }
  }
}

TEST(Graph, AddScaleAndSoftCap) {
  constexpr size_t kRows = 2, kCols = 67;
  auto a = normal(15, kRows * kCols, 20);
  a[0] = 1e30f, a[1] = -1e30f, a[2] = 0;
  const auto b = normal(16, kRows * kCols);
  Array<float> left(a), right(b), to(std::vector<float>(kRows * kCols, kUnset));
  const ElementwiseArguments arguments{kCols, kCols, kCols, kCols, 30.0f};
  const GraphShape shape{.rows = kRows, .columns = kCols};
  const auto sums = run("add", arguments, {&left.memory, &right.memory, &to.memory}, to, shape);
  const auto scaled = run("scale", arguments, {&left.memory, &to.memory}, to, shape);
  const auto capped = run("soft_cap", arguments, {&left.memory, &to.memory}, to, shape);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(sums[i], a[i] + b[i]);
    EXPECT_EQ(scaled[i], a[i] * 30.0f);
    const double exact = 30 * std::tanh(double(a[i]) / 30);
    expect_right(capped[i], {exact, 8 * kUnit * std::fabs(exact)}, i);  // a quotient, tanh to 2 ulp, a product
  }
}

// A state filled batch by batch, read in full and through a window; T is what it is made of.
template <class T>
void check_attention(size_t dim, uint32_t window) {
  SCOPED_TRACE(testing::Message() << "heads of " << dim << ", window " << window << ", " << sizeof(T) << " bytes");
  constexpr bool kHalf = sizeof(T) == 2;
  constexpr size_t kHeads = 2, kQueryHeads = 6, kSequences = 2, kPositions = 41;
  const size_t width = kHeads * dim, all = kSequences * kPositions;
  std::vector<int32_t> sequences, positions;
  for (size_t p = 0; p < kPositions; ++p) {
    for (size_t s = 0; s < kSequences; ++s) sequences.push_back(int32_t(s)), positions.push_back(int32_t(p));
  }
  const auto k = normal(17, all * width), v = normal(18, all * width);
  Array<float> new_k(k), new_v(v);
  Array<int32_t> sequence_array(sequences), position_array(positions);
  Array<T> keys(std::vector<T>(all * width)), values(std::vector<T>(all * width));
  const KeyValueArguments append{width, width, kPositions * width, width, uint32_t(width), kSequences, kPositions, 0};
  const std::string suffix = kHalf ? "_f16" : "_f32";
  run("append_key_value" + suffix, append,
      {&new_k.memory, &new_v.memory, &keys.memory, &values.memory, &sequence_array.memory, &position_array.memory},
      keys, {.rows = all, .columns = width});
  const auto stored_key = keys.values();
  const auto stored_value = values.values();
  const auto number = [](T x) {
    if constexpr (kHalf) return double(half_to_float(x));
    if constexpr (!kHalf) return double(x);
  };

  // Queries of some places, and of three that there are not.
  const std::vector<int32_t> of_sequence = {0, 1, 0, 1, 2, 0, -1}, at = {0, 3, 40, 17, 5, 41, 4};
  const size_t rows = at.size(), query_width = kQueryHeads * dim;
  const auto q = normal(19, rows * query_width);
  const float scale = 1 / std::sqrt(float(dim));
  Array<float> queries(q), to(std::vector<float>(rows * query_width, kUnset));
  Array<int32_t> query_sequences(of_sequence), query_positions(at);
  const AttentionArguments arguments{
      query_width, query_width, kPositions * width, width,     uint32_t(dim), kQueryHeads / kHeads,
      scale,       window,      kSequences,         kPositions};
  const auto y =
      run("attention" + suffix, arguments,
          {&queries.memory, &keys.memory, &values.memory, &query_sequences.memory, &query_positions.memory, &to.memory},
          to, {.rows = rows, .columns = kQueryHeads, .head_dim = dim});
  for (size_t r = 0; r < rows; ++r) {
    for (size_t h = 0; h < kQueryHeads; ++h) {
      const float* result = &y[r * query_width + h * dim];
      if (of_sequence[r] < 0 || of_sequence[r] > 1 || at[r] > 40) {
        for (size_t i = 0; i < dim; ++i) EXPECT_EQ(result[i], 0.0f);
        continue;
      }
      const size_t first = window && at[r] >= int(window) ? size_t(at[r]) + 1 - window : 0;
      const auto place = [&](size_t j, size_t i) {
        return (size_t(of_sequence[r]) * kPositions + j) * width + h / 3 * dim + i;
      };
      std::vector<double> weight, off;
      double largest = -INFINITY, total = 0, moved = 0;
      for (size_t j = first; j <= size_t(at[r]); ++j) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < dim; ++i) {
          const double term =
              double(q[r * query_width + h * dim + i]) * number(stored_key[place(j, i)]) * double(scale);
          sum += term, size += std::fabs(term);
        }
        weight.push_back(sum);
        off.push_back(gamma(double(dim) + 2) * size);
        largest = std::max(largest, sum);
      }
      // As in check/checks_attention.cpp; the largest score may change with each key.
      const auto count = double(weight.size());
      for (size_t j = 0; j < weight.size(); ++j) {
        off[j] += kUnit * (2 * (largest - weight[j]) + 4 + 6 * (count / 4 + 2));
        weight[j] = std::exp(weight[j] - largest);
        total += weight[j], moved += weight[j] * off[j];
      }
      for (size_t i = 0; i < dim; ++i) {
        double sum = 0, size = 0, by_weights = 0;
        for (size_t j = 0; j < weight.size(); ++j) {
          const double value = number(stored_value[place(first + j, i)]);
          sum += weight[j] * value, size += weight[j] * std::fabs(value);
          by_weights += weight[j] * off[j] * std::fabs(value);
        }
        const double bound = (by_weights + moved / total * size + 2 * gamma(count + 8) * size) / total * 1.01;
        expect_right(result[i], {sum / total, bound}, i);
      }
    }
  }
}

TEST(Graph, Attention) {
  check_attention<float>(64, 0);
  check_attention<uint16_t>(64, 7);
  check_attention<float>(80, 40);
  check_attention<uint16_t>(16, 0);
}

TEST(Graph, Convert) {
  constexpr size_t kRows = 2, kCols = 33;
  auto x = normal(21, kRows * kCols, 100);
  x[0] = 1e5f, x[1] = -0.0f, x[2] = 3e-8f;  // no fp16, or hardly
  const ConvertArguments arguments{kCols, kCols, kCols, 0};
  const GraphShape shape{.rows = kRows, .columns = kCols};
  Array<float> from(x), back(x);
  Array<uint16_t> narrow(std::vector<uint16_t>(x.size()));
  const auto check = [&](std::string_view to, std::string_view and_back, auto&& round, auto&& widen) {
    const auto bits = run(to, arguments, {&from.memory, &narrow.memory}, narrow, shape);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(bits[i], round(x[i]));
    const auto wide = run(and_back, arguments, {&narrow.memory, &back.memory}, back, shape);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(wide[i], widen(bits[i]));
  };
  check(
      "convert_f32_f16", "convert_f16_f32", [](float v) { return float_to_half(v); },
      [](uint16_t b) { return half_to_float(b); });
  check(
      "convert_f32_bf16", "convert_bf16_f32", [](float v) { return float_to_bfloat(v); },
      [](uint16_t b) { return bfloat_to_float(b); });
  EXPECT_EQ(run("convert_f32_f32", arguments, {&from.memory, &back.memory}, back, shape), x);
}

TEST(Graph, AppendWritesNothingWhereThereIsNoRoom) {
  constexpr size_t kWidth = 40;
  const auto k = normal(20, 4 * kWidth);
  Array<float> rows(k), keys(std::vector<float>(2 * 3 * kWidth, 7.0f)),
      values(std::vector<float>(2 * 3 * kWidth, 7.0f));
  Array<int32_t> sequences({0, 2, -1, 1}), positions({3, 0, 0, 2});
  const KeyValueArguments arguments{kWidth, kWidth, 3 * kWidth, kWidth, kWidth, 2, 3, 0};
  const auto written =
      run("append_key_value_f32", arguments,
          {&rows.memory, &rows.memory, &keys.memory, &values.memory, &sequences.memory, &positions.memory}, keys,
          {.rows = 4, .columns = kWidth});
  for (size_t i = 0; i < written.size(); ++i) {
    EXPECT_EQ(written[i], i / kWidth == 5 ? k[3 * kWidth + i % kWidth] : 7.0f) << i;
  }
  EXPECT_EQ(values.values(), written);
}

}  // namespace
}  // namespace soffit::metal
