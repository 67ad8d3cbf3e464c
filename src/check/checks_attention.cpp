// append_key_value and attention together, over several batches that fill a state.
//
// Keys and values are exact as the state's type stores them. A score is off by at most
//   E = gamma(head_dim + 2) |scale| sum |q k|,
// so its weight p = e^(score - largest) relative to the others by
//   d = E + u (largest - score) + 4 u (the exponential's 2 ulp) + 6 u for each time that the largest score changes,
// at most once in 64 keys and once more. With P = sum p:
//   |y - exact| <= sum p d |v| / P + (sum p d / P) sum p |v| / P + 2 gamma(keys + 8) sum p |v| / P.
// Weights below 2^-126 may be anything down there: 2^-120 sum |v|. With an F16 state weights may be rounded to fp16
// before they meet values, but not in P: 2^-11 sum p |v| / P + 2^-25 sum |v| / P.
#include <cmath>

#include "check/checks.hpp"
#include "core/concat.hpp"

namespace soffit::checker {
namespace {

struct Place {
  int32_t sequence, position;
};
struct AttentionCase {
  StateDescription state;  // one layer that is used, the last one
  int64_t query_heads = 1, window = 0;
  float scale = 1, size = 1;  // of scores; of q, k and v
  std::vector<std::vector<Place>> batches;
};

const KeyValueLayer& layer_of(const AttentionCase& c) { return std::get<KeyValueLayer>(c.state.layers.back()); }

// What lies in the state, as stored.
class Memory {
 public:
  explicit Memory(const AttentionCase& c)
      : c_(c),
        width_(layer_of(c).heads * layer_of(c).head_dim),
        keys_(size_t(c.state.sequences * c.state.context * width_)),
        values_(keys_.size()) {}

  void append(Place place, const float* k, const float* v) {
    for (int64_t i = 0; i < width_; ++i) {
      keys_[index(place, i)] = stored(k[i]);
      values_[index(place, i)] = stored(v[i]);
    }
  }
  // One query head.
  void attend(Place place, const float* q, int64_t key_head, std::vector<Value>& y) const {
    const int64_t dim = layer_of(c_).head_dim;
    const int64_t first = c_.window > 0 ? std::max<int64_t>(0, place.position - c_.window + 1) : 0;
    std::vector<double> score, error;
    double largest = -INFINITY;
    for (auto j = int32_t(first); j <= place.position; ++j) {
      double sum = 0, size = 0;
      for (int64_t i = 0; i < dim; ++i) {
        const double product = double(q[i]) * keys_[index({place.sequence, j}, key_head * dim + i)];
        sum += product, size += std::fabs(product);
      }
      score.push_back(sum * double(c_.scale));
      error.push_back(gamma(double(dim) + 2) * std::fabs(double(c_.scale)) * size);
      largest = std::max(largest, score.back());
    }
    const auto keys = double(score.size());
    double total = 0, off = 0;
    for (size_t j = 0; j < score.size(); ++j) {
      error[j] += kUnit * (largest - score[j] + 4 + 6 * (keys / 64 + 1));
      score[j] = std::exp(score[j] - largest);
      total += score[j], off += score[j] * error[j];
    }
    for (int64_t i = 0; i < dim; ++i) {
      double sum = 0, size = 0, moved = 0, all = 0;
      for (size_t j = 0; j < score.size(); ++j) {
        const double v = values_[index({place.sequence, int32_t(first) + int32_t(j)}, key_head * dim + i)];
        sum += score[j] * v, size += score[j] * std::fabs(v), moved += score[j] * error[j] * std::fabs(v);
        all += std::fabs(v);
      }
      const double bound = (moved + off / total * size + 2 * gamma(keys + 8) * size) / total * 1.01 + 0x1p-120 * all;
      const bool half = c_.state.type == DataType::f16;
      y.push_back({sum / total, bound + (half ? 0x1.01p-11 * size / total : 0)});
    }
  }

 private:
  size_t index(Place p, int64_t i) const { return size_t((p.sequence * c_.state.context + p.position) * width_ + i); }
  double stored(float v) const {
    std::byte element[4];
    store_element(c_.state.type, v, element);
    return load_element(c_.state.type, element);
  }

  const AttentionCase& c_;
  int64_t width_;
  std::vector<double> keys_, values_;
};

struct Batch {
  std::vector<Place> places;
  std::vector<float> q, k, v;
  std::vector<int32_t> sequences, positions;
};

Result<Outcome> run_batch(const AttentionCase& c, const Batch& batch, const std::vector<Value>& expected, State& state,
                          Backend& backend, Placement& placement) {
  const auto n = int64_t(batch.places.size()), layer = int64_t(c.state.layers.size()) - 1;
  const KeyValueLayer& l = layer_of(c);
  const auto array = [&](int64_t heads, int64_t gap, const std::vector<float>& values) {
    return InputArray::create(backend, placement, {DataType::f32, n, heads * l.head_dim, gap}, values);
  };
  SOFFIT_TRY(const auto q, array(c.query_heads, 1, batch.q));
  SOFFIT_TRY(const auto k, array(l.heads, 2, batch.k));
  SOFFIT_TRY(const auto v, array(l.heads, 0, batch.v));
  SOFFIT_TRY(const auto sequences, InputArray::create(backend, placement, batch.sequences, 1, n));
  SOFFIT_TRY(const auto positions, InputArray::create(backend, placement, batch.positions, 1, n));
  SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {DataType::f32, n, c.query_heads * l.head_dim, 3}));
  const Operation operations[] = {AppendKeyValue{k.view(), v.view(), &state, layer, sequences.view(), positions.view()},
                                  Attention{q.view(), &state, layer, c.query_heads, c.scale, c.window, sequences.view(),
                                            positions.view(), y.view()}};
  SOFFIT_TRY(const auto plan, backend.plan(operations, {}));
  SOFFIT_CHECK(plan->run());
  return y.compare(expected);
}

Result<Outcome> run(const AttentionCase& c, Backend& backend, Placement& placement) {
  const KeyValueLayer& l = layer_of(c);
  const Support support = backend.supports(OperationKind::attention, Format::f32, {c.query_heads, l.head_dim, 1, 1});
  if (!support) return Outcome::skip(support.reason);
  SOFFIT_TRY(const auto state, backend.new_state(c.state));
  Memory memory(c);
  Outcome all{Verdict::passed, 0, support.kernel, {}};
  uint64_t seed = 71;
  for (const auto& places : c.batches) {
    const auto n = int64_t(places.size());
    Batch batch{places,
                normal_array(seed, n * c.query_heads * l.head_dim, c.size),
                normal_array(seed + 1, n * l.heads * l.head_dim, c.size),
                normal_array(seed + 2, n * l.heads * l.head_dim, c.size),
                {},
                {}};
    seed += 3;
    for (int64_t i = 0; i < n; ++i) {
      const Place p = places[size_t(i)];
      batch.sequences.push_back(p.sequence), batch.positions.push_back(p.position);
      memory.append(p, batch.k.data() + i * l.heads * l.head_dim, batch.v.data() + i * l.heads * l.head_dim);
    }
    std::vector<Value> expected;
    const int64_t group = c.query_heads / l.heads;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t h = 0; h < c.query_heads; ++h)
        memory.attend(places[size_t(i)], batch.q.data() + (i * c.query_heads + h) * l.head_dim, h / group, expected);
    SOFFIT_TRY(Outcome outcome, run_batch(c, batch, expected, *state, backend, placement));
    all.error_over_bound = worse(all.error_over_bound, outcome.error_over_bound);
    if (outcome.verdict != Verdict::failed) continue;
    outcome.kernel = all.kernel;
    return outcome;
  }
  return all;
}

std::vector<Place> span_of(int32_t sequence, int32_t first, int32_t count) {
  std::vector<Place> places;
  for (int32_t i = 0; i < count; ++i) places.push_back({sequence, first + i});
  return places;
}

// A prompt, single tokens, two sequences at once, and a prompt that goes on.
std::vector<std::vector<Place>> some_batches() {
  std::vector<std::vector<Place>> batches = {span_of(0, 0, 37), {{0, 37}}, {{0, 38}, {1, 0}}, {{1, 1}, {0, 39}}};
  auto both = span_of(2, 0, 9);
  const auto more = span_of(0, 40, 12);
  both.insert(both.end(), more.begin(), more.end());
  batches.push_back(both);
  batches.push_back({{0, 52}, {1, 2}, {2, 9}});
  return batches;
}

}  // namespace

std::vector<Check> attention_checks(bool quick) {
  std::vector<Check> checks;
  const auto add = [&](const AttentionCase& c) {
    const KeyValueLayer& l = layer_of(c);
    size_t rows = 0;
    for (const auto& b : c.batches) rows = std::max(rows, b.size());
    add_check(checks,
              {OperationKind::attention, Format::f32, c.query_heads, l.head_dim, int64_t(rows),
               concat(l.heads, " key-value heads, ", to_string(c.state.type), ", window ", c.window,
                      l.window ? concat(", ", l.window, " held") : "")},
              [c](Backend& b, Placement& p) { return run(c, b, p); });
  };
  const auto make = [](int64_t heads, int64_t group, int64_t dim, DataType type, int64_t window) {
    AttentionCase c;
    c.state.layers = {KeyValueLayer{1, 8}, KeyValueLayer{heads, dim}};
    c.state.sequences = 3, c.state.context = 64, c.state.type = type;
    c.query_heads = heads * group, c.window = window;
    c.scale = float(1 / std::sqrt(double(dim))), c.size = 1;
    c.batches = some_batches();
    return c;
  };
  for (DataType type : {DataType::f16, DataType::f32})
    for (int64_t window : {0, 1, 5, 16}) {
      for (int64_t dim : quick ? std::vector<int64_t>{16, 64} : std::vector<int64_t>{1, 8, 16, 17, 31, 33, 64, 80, 256})
        add(make(2, 3, dim, type, window));
      add(make(1, 1, 64, type, window));
      add(make(quick ? 1 : 3, 8, 32, type, window));
    }
  AttentionCase sharp = make(2, 2, 64, DataType::f16, 0);
  sharp.scale = 1, sharp.size = 3;
  add(sharp);
  AttentionCase longer = make(1, 2, 16, DataType::f16, 0);
  longer.state.context = 1100;
  const int32_t prompt = quick ? 255 : 1023;
  longer.batches = {span_of(1, 0, prompt)};
  for (int32_t i = prompt; i < prompt + (quick ? 2 : 35); ++i) longer.batches.push_back({{1, i}});
  add(longer);
  longer.window = quick ? 150 : 700;
  add(longer);
  // Layers that hold their window alone, while batches of many sizes go round in them.
  using Windows = std::vector<std::pair<int64_t, int64_t>>;
  const auto windows =
      quick ? Windows{{1, 1}, {40, 40}, {65, 60}} : Windows{{1, 1}, {5, 3}, {40, 40}, {64, 64}, {65, 60}, {130, 130}};
  for (DataType type : {DataType::f16, DataType::f32})
    for (const auto& [held, seen] : windows) {
      AttentionCase ring = make(quick ? 1 : 2, 2, 17, type, seen);
      std::get<KeyValueLayer>(ring.state.layers.back()).window = held;
      ring.state.context = 1000, ring.state.batch = 100;
      ring.batches = {span_of(0, 0, 100), span_of(0, 100, 100), {{0, 200}}, {{0, 201}, {1, 0}}};
      for (int32_t i = 202; i < (quick ? 210 : 400); ++i) ring.batches.push_back({{0, i}, {1, i - 201}});
      ring.batches.push_back(span_of(1, quick ? 9 : 199, 77));
      add(ring);
    }
  return checks;
}

}  // namespace soffit::checker
