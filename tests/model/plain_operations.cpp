#include "plain_operations.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace soffit::test {
namespace {

float* row(const ArrayView& v, int64_t i) {
  return reinterpret_cast<float*>(static_cast<std::byte*>(v.buffer->host()) + v.offset) + i * v.row_stride;
}
int32_t* integers(const ArrayView& v, int64_t i) { return reinterpret_cast<int32_t*>(row(v, i)); }

double activate(Activation activation, double x) {
  if (activation == Activation::silu) return x / (1 + std::exp(-x));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * x * (1 + 0.044715 * x * x)));
}

// One row of a linear layer with its epilogue.
void product(const PlainWeights& weights, int64_t expert, const float* x, const Epilogue& epilogue,
             const float* residual, float* y) {
  std::vector<double> result(size_t(weights.rows()));
  int64_t first = 0;
  for (size_t part = 0; part < weights.descriptions.size(); part++) {
    for (int64_t r = 0; r < weights.descriptions[part].rows; r++) {
      const auto w = weights.row(expert, first + r);
      double sum = 0;
      for (size_t j = 0; j < w.size(); j++) sum += double(w[j]) * double(x[j]);
      sum *= epilogue.scale;
      if (!epilogue.bias.empty()) sum += row(epilogue.bias, 0)[first + r];
      result[size_t(first + r)] = sum;
    }
    first += weights.descriptions[part].rows;
  }
  if (epilogue.gate != Activation::none) {
    const size_t half = result.size() / 2;
    for (size_t i = 0; i < half; i++) result[i] = activate(epilogue.gate, result[i]) * result[half + i];
    result.resize(half);
  }
  for (size_t i = 0; i < result.size(); i++) y[i] = float(result[i] + (residual ? residual[i] : 0.0f));
}

const float* residual_row(const Epilogue& epilogue, int64_t i) {
  return epilogue.residual.empty() ? nullptr : row(epilogue.residual, i);
}

Error out_of_range(const char* what, int64_t value) {
  return invalid_argument(std::string(what) + " " + std::to_string(value) + " is out of range");
}

Status run(const Linear& o) {
  const auto& weights = static_cast<const PlainWeights&>(*o.weights);
  const auto& x = static_cast<const PlainActivations&>(*o.x);
  for (int64_t i = 0; i < o.y.rows; i++) {
    product(weights, 0, x.row(i), o.epilogue, residual_row(o.epilogue, i), row(o.y, i));
  }
  return {};
}

Status run(const LinearId& o) {
  const auto& weights = static_cast<const PlainWeights&>(*o.weights);
  const auto& x = static_cast<const PlainActivations&>(*o.x);
  for (int64_t slot = 0; slot < o.y.rows; slot++) {
    const int64_t token = slot / o.ids.cols, id = integers(o.ids, token)[slot % o.ids.cols];
    if (id < 0 || id >= weights.experts()) return out_of_range("expert", id);
    product(weights, id, x.row(o.per_slot ? slot : token), o.epilogue, residual_row(o.epilogue, slot), row(o.y, slot));
  }
  return {};
}

Status run(const GetRows& o) {
  const auto& weights = static_cast<const PlainWeights&>(*o.weights);
  for (int64_t i = 0; i < o.y.rows; i++) {
    const int64_t id = integers(o.ids, 0)[i];
    if (id < 0 || id >= weights.rows()) return out_of_range("row", id);
    const auto values = weights.row(0, id);
    for (size_t j = 0; j < values.size(); j++) row(o.y, i)[j] = values[j] * o.scale;
  }
  return {};
}

Status run(const Prepare& o) {
  for (int64_t i = 0; i < o.x.rows; i++) {
    std::copy_n(row(o.x, i), o.x.cols, static_cast<PlainActivations&>(*o.to).row(i));
  }
  return {};
}

void normalise(const float* x, const float* weight, int64_t count, float epsilon, float* y) {
  double square = 0;
  for (int64_t j = 0; j < count; j++) square += double(x[j]) * double(x[j]);
  const double factor = 1 / std::sqrt(square / double(count) + double(epsilon));
  for (int64_t j = 0; j < count; j++) y[j] = float(double(x[j]) * factor * double(weight[j]));
}

Status run(const RmsNorm& o) {
  std::vector<float> y(size_t(o.x.cols));
  for (int64_t i = 0; i < o.x.rows; i++) {
    normalise(row(o.x, i), row(o.weight, 0), o.x.cols, o.epsilon, y.data());
    if (!o.residual.empty()) {
      for (size_t j = 0; j < y.size(); j++) y[j] += row(o.residual, i)[j];
    }
    if (!o.y.empty()) std::ranges::copy(y, row(o.y, i));
    if (o.prepared) std::ranges::copy(y, static_cast<PlainActivations&>(*o.prepared).row(i));
  }
  return {};
}

// The angle's frequency of each pair, and what multiplies sine and cosine.
std::vector<double> frequencies(const RopeParameters& rope, double& magnitude) {
  const double n = double(rope.dimensions), scale = rope.frequency_scale;
  const auto pair_turning = [&](double turns) {
    return n * std::log(double(rope.original_context) / (turns * 2 * std::numbers::pi)) / (2 * std::log(rope.base));
  };
  magnitude = rope.attention_factor;
  double low = 0, high = 0;
  if (rope.extrapolation != 0) {
    low = std::max(0.0, std::floor(pair_turning(rope.beta_fast)));
    high = std::min(n - 1, std::ceil(pair_turning(rope.beta_slow)));
    magnitude *= 1 + 0.1 * std::log(1 / scale);
  }
  std::vector<double> result;
  for (int64_t i = 0; i < rope.dimensions / 2; i++) {
    double own = std::pow(double(rope.base), -2.0 * double(i) / n);
    if (!rope.frequency_factors.empty()) own /= row(rope.frequency_factors, 0)[i];
    const double kept =
        rope.extrapolation * (1 - std::clamp((double(i) - low) / std::max(0.001, high - low), 0.0, 1.0));
    result.push_back(own * scale * (1 - kept) + own * kept);
  }
  return result;
}

Status run(const Rotate& o) {
  double magnitude = 1;
  const auto frequency = frequencies(o.rope, magnitude);
  const bool adjacent = o.rope.pairs == RopeParameters::Pairs::adjacent;
  for (int64_t i = 0; i < o.x.rows; i++) {
    const double position = integers(o.positions, 0)[i];
    for (float* head = row(o.x, i); head < row(o.x, i) + o.x.cols; head += o.head_dim) {
      if (!o.norm.empty()) normalise(head, row(o.norm, 0), o.head_dim, o.epsilon, head);
      for (size_t p = 0; p < frequency.size(); p++) {
        float& a = head[adjacent ? 2 * p : p];
        float& b = head[adjacent ? 2 * p + 1 : p + frequency.size()];
        const double cosine = magnitude * std::cos(position * frequency[p]);
        const double sine = magnitude * std::sin(position * frequency[p]);
        const double x = a, y = b;
        a = float(x * cosine - y * sine);
        b = float(x * sine + y * cosine);
      }
    }
  }
  return {};
}

Status check_place(const StateDescription& state, int64_t sequence, int64_t position) {
  if (sequence < 0 || sequence >= state.sequences) return out_of_range("sequence", sequence);
  if (position < 0 || position >= state.context) return out_of_range("position", position);
  return {};
}

Status run(const AppendKeyValue& o) {
  auto& state = static_cast<PlainState&>(*o.state);
  for (int64_t i = 0; i < o.k.rows; i++) {
    const int64_t sequence = integers(o.sequences, 0)[i], position = integers(o.positions, 0)[i];
    SOFFIT_CHECK(check_place(state.description(), sequence, position));
    const size_t place = state.index(o.layer, sequence, position);
    for (int64_t j = 0; j < o.k.cols; j++) {
      state.keys[size_t(o.layer)][place + size_t(j)] = state.rounded(row(o.k, i)[j]);
      state.values[size_t(o.layer)][place + size_t(j)] = state.rounded(row(o.v, i)[j]);
    }
  }
  return {};
}

Status run(const Attention& o) {
  const auto& state = static_cast<const PlainState&>(*o.state);
  const auto& shape = std::get<KeyValueLayer>(state.description().layers[size_t(o.layer)]);
  const int64_t group = o.query_heads / shape.heads;
  for (int64_t i = 0; i < o.q.rows; i++) {
    const int64_t sequence = integers(o.sequences, 0)[i], position = integers(o.positions, 0)[i];
    SOFFIT_CHECK(check_place(state.description(), sequence, position));
    const int64_t first = o.window > 0 ? std::max<int64_t>(0, position - o.window + 1) : 0;
    for (int64_t head = 0; head < o.query_heads; head++) {
      const float* q = row(o.q, i) + head * shape.head_dim;
      const size_t offset = size_t(head / group * shape.head_dim);
      std::vector<double> share;
      for (int64_t j = first; j <= position; j++) {
        const float* k = state.keys[size_t(o.layer)].data() + state.index(o.layer, sequence, j) + offset;
        share.push_back(o.scale * std::inner_product(q, q + shape.head_dim, k, 0.0));
      }
      const double largest = *std::ranges::max_element(share);
      double sum = 0;
      for (double& s : share) sum += s = std::exp(s - largest);
      for (int64_t d = 0; d < shape.head_dim; d++) {
        double mixed = 0;
        for (int64_t j = first; j <= position; j++) {
          mixed += share[size_t(j - first)] *
                   double(state.values[size_t(o.layer)][state.index(o.layer, sequence, j) + offset + size_t(d)]);
        }
        row(o.y, i)[head * shape.head_dim + d] = float(mixed / sum);
      }
    }
  }
  return {};
}

Status run(const GatedActivation& o) {
  for (int64_t i = 0; i < o.gate.rows; i++) {
    for (int64_t j = 0; j < o.gate.cols; j++) {
      const float value = float(activate(o.activation, row(o.gate, i)[j]) * double(row(o.up, i)[j]));
      if (!o.y.empty()) row(o.y, i)[j] = value;
      if (o.prepared) static_cast<PlainActivations&>(*o.prepared).row(i)[j] = value;
    }
  }
  return {};
}

Status run(const Route& o) {
  for (int64_t i = 0; i < o.logits.rows; i++) {
    const float* logits = row(o.logits, i);
    std::vector<int32_t> order(size_t(o.logits.cols));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
    double sum = 0;
    for (int64_t j = 0; j < o.ids.cols; j++)
      sum += std::exp(double(logits[order[size_t(j)]]) - double(logits[order[0]]));
    for (int64_t j = 0; j < o.ids.cols; j++) {
      integers(o.ids, i)[j] = order[size_t(j)];
      row(o.weights, i)[j] =
          float(std::exp(double(logits[order[size_t(j)]]) - double(logits[order[0]])) / sum * double(o.scale));
    }
  }
  return {};
}

Status run(const Combine& o) {
  for (int64_t i = 0; i < o.y.rows; i++) {
    for (int64_t j = 0; j < o.y.cols; j++) {
      double sum = o.residual.empty() ? 0.0 : double(row(o.residual, i)[j]);
      for (int64_t s = 0; s < o.weights.cols; s++) {
        sum += double(row(o.weights, i)[s]) * double(row(o.x, i * o.weights.cols + s)[j]);
      }
      row(o.y, i)[j] = float(sum);
    }
  }
  return {};
}

Status run(const Gather& o) {
  for (int64_t i = 0; i < o.y.rows; i++) {
    const int64_t id = integers(o.ids, 0)[i];
    if (id < 0 || id >= o.x.rows) return out_of_range("row", id);
    std::copy_n(row(o.x, id), o.x.cols, row(o.y, i));
  }
  return {};
}

template <class F>
Status each(const ArrayView& y, F value) {
  for (int64_t i = 0; i < y.rows; i++) {
    for (int64_t j = 0; j < y.cols; j++) row(y, i)[j] = value(i, j);
  }
  return {};
}
Status run(const Add& o) {
  return each(o.y, [&](int64_t i, int64_t j) { return row(o.a, i)[j] + row(o.b, i)[j]; });
}
Status run(const Scale& o) {
  return each(o.y, [&](int64_t i, int64_t j) { return row(o.x, i)[j] * o.factor; });
}
Status run(const SoftCap& o) {
  return each(o.y, [&](int64_t i, int64_t j) { return o.cap * std::tanh(row(o.x, i)[j] / o.cap); });
}

// new_state() makes no such layers.
Status run(const ShortConvolution&) { return unsupported("the plain backend has no recurrent layers"); }
Status run(const GatedDeltaRule&) { return unsupported("the plain backend has no recurrent layers"); }
Status run(const AllReduce&) { return {}; }

}  // namespace

Status compute(const Operation& operation) {
  return std::visit([](const auto& o) { return run(o); }, operation.value);
}

}  // namespace soffit::test
