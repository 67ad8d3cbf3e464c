// Recurrent layers: each unit of work, a range of channels or a head, goes through the batch's rows in their order.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "cpu/plan.hpp"
#include "cpu/state.hpp"
#include "cpu/views.hpp"
#include "ops/places.hpp"

namespace soffit::cpu {
namespace {

// The sequence of a row that is the next one of a unit, or a fault. `rows_of`: what the unit has seen of a sequence.
template <class RowsOf>
std::optional<int64_t> next_row(Member& m, const char* what, const State& state, const ArrayView& sequences,
                                const ArrayView& positions, int64_t row, RowsOf&& rows_of_sequence) {
  const Place at = place_at(sequences, positions, row);
  Status status = check_place(what, state.description(), at);
  if (status) {
    int64_t& seen = rows_of_sequence(at.sequence);
    status = check_next(what, at, seen);
    if (status) return ++seen, at.sequence;
  }
  m.plan.fail(std::move(status).error());
  return std::nullopt;
}

constexpr auto kOnes = [] {
  std::array<float, RecurrentStore::kChannels> ones{};
  ones.fill(1.0f);
  return ones;
}();

void convolve(Member& m, const ShortConvolution& o, RecurrentStore& store, int64_t unit) {
  const int64_t first = unit * RecurrentStore::kChannels, past = store.layer().taps - 1;
  const int64_t count = std::min(RecurrentStore::kChannels, store.layer().channels - first);
  const auto bytes = size_t(count) * sizeof(float);
  auto* sum = reinterpret_cast<float*>(m.scratch);
  for (int64_t i = 0; i < o.x.rows; ++i) {
    const auto s = next_row(m, "short_convolution", *o.state, o.sequences, o.positions, i,
                            [&](int64_t sequence) -> int64_t& { return store.channel_rows(sequence, unit); });
    if (!s) return;
    const auto inputs = [&](int64_t tap) { return store.inputs(*s, tap) + first; };
    const float* x = row_of<float>(o.x, i) + first;
    for (int64_t c = 0; c < count; ++c) {
      const float* w = row_of<float>(o.weight, first + c);
      float v = 0;
      for (int64_t t = 0; t < past; ++t) v += w[t] * inputs(t)[c];
      sum[c] = v + w[past] * x[c];
    }
    for (int64_t t = 0; t + 1 < past; ++t) std::memcpy(inputs(t), inputs(t + 1), bytes);
    if (past > 0) std::memcpy(inputs(past - 1), x, bytes);
    float* y = row_of<float>(o.y, i) + first;
    if (o.activation == Activation::none)
      std::memcpy(y, sum, bytes);
    else
      m.kernels.gate(o.activation, sum, kOnes.data(), y, count);
  }
}

// to = x / max(|x|, epsilon)
void normalise(const VectorKernels& kernels, const float* x, int64_t n, float epsilon, float* to) {
  const auto norm = float(std::sqrt(kernels.sum_squares(x, n)));
  kernels.scale(x, 1.0f / std::max(norm, epsilon), to, n);
}

void apply_rule(Member& m, const GatedDeltaRule& o, RecurrentStore& store, int64_t head) {
  const RecurrentLayer& l = store.layer();
  const VectorKernels& kernels = m.kernels;
  const int64_t keys = l.key_dim, values = l.value_dim, from = head % (o.q.cols / keys) * keys;
  auto* q = reinterpret_cast<float*>(m.scratch);
  float *k = q + keys, *change = k + keys;
  for (int64_t i = 0; i < o.q.rows; ++i) {
    const auto s = next_row(m, "gated_delta_rule", *o.state, o.sequences, o.positions, i,
                            [&](int64_t sequence) -> int64_t& { return store.head_rows(sequence, head); });
    if (!s) return;
    normalise(kernels, row_of<float>(o.q, i) + from, keys, o.epsilon, q);
    normalise(kernels, row_of<float>(o.k, i) + from, keys, o.epsilon, k);
    // Two numbers a head: in fp64, where log and exp cost nothing beside the matrix.
    const double time = double(row_of<float>(o.time, i)[head]) + double(row_of<float>(o.time_bias, 0)[head]);
    const double softplus = time > 20 ? time : std::log1p(std::exp(time));
    const auto alpha = float(std::exp(double(row_of<float>(o.rate, 0)[head]) * softplus));
    const auto beta = float(1 / (1 + std::exp(-double(row_of<float>(o.beta, i)[head]))));

    float* matrix = store.matrix(*s, head);
    std::memset(change, 0, size_t(values) * sizeof(float));
    for (int64_t d = 0; d < keys; ++d) kernels.add_scaled(matrix + d * values, k[d], change, values);
    const float* v = row_of<float>(o.v, i) + head * values;
    for (int64_t j = 0; j < values; ++j) change[j] = beta * (v[j] - alpha * change[j]);
    float* y = row_of<float>(o.y, i) + head * values;
    std::memset(y, 0, size_t(values) * sizeof(float));
    for (int64_t d = 0; d < keys; ++d) {
      float* row = matrix + d * values;
      kernels.scale(row, alpha, row, values);
      kernels.add_scaled(change, k[d], row, values);
      kernels.add_scaled(row, q[d], y, values);
    }
    kernels.scale(y, o.scale, y, values);
  }
}

}  // namespace

Result<Step> make_short_convolution(const ShortConvolution& o) {
  auto* state = dynamic_cast<CpuState*>(o.state);
  if (!state) return invalid_argument("short_convolution: state of another backend");
  Step step;
  step.scratch = RecurrentStore::kChannels * sizeof(float);
  step.run = [o, state](Member& m) {
    RecurrentStore& store = *state->recurrent(o.layer);
    const auto [begin, end] = m.share(store.channel_units());
    for (int64_t unit = begin; unit < end; ++unit) convolve(m, o, store, unit);
  };
  return step;
}

Result<Step> make_gated_delta_rule(const GatedDeltaRule& o) {
  auto* state = dynamic_cast<CpuState*>(o.state);
  if (!state) return invalid_argument("gated_delta_rule: state of another backend");
  const RecurrentLayer& l = state->recurrent(o.layer)->layer();
  Step step;
  step.scratch = uint64_t(2 * l.key_dim + l.value_dim) * sizeof(float);
  step.run = [o, state](Member& m) {
    RecurrentStore& store = *state->recurrent(o.layer);
    const auto [begin, end] = m.share(store.layer().heads);
    for (int64_t head = begin; head < end; ++head) apply_rule(m, o, store, head);
  };
  return step;
}

}  // namespace soffit::cpu
