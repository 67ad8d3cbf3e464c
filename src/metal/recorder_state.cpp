// What models remember: keys and values, and recurrent layers.
#include "metal/recorder.hpp"
#include "ops/places.hpp"

namespace soffit::metal {
namespace {

constexpr int64_t kMostHeadDim = 512;  // of attention.metal
constexpr int64_t kMostKeyDim = 4096;  // of recurrent.metal: two of them in threadgroup memory

Result<MetalState*> state_of(const State* state) {
  auto* mine = dynamic_cast<MetalState*>(const_cast<State*>(state));
  if (!mine) return invalid_argument("state of another backend");
  return mine;
}

KeyValueArguments key_values(const MetalState& state, const KeyValueStore& store) {
  KeyValueArguments a{};
  const KeyValueLayer& l = store.layer();
  a.head_stride = uint64_t(2 * store.held() * l.head_dim);
  a.sequence_stride = a.head_stride * uint64_t(l.heads);
  a.heads = uint32_t(l.heads);
  a.head_dim = uint32_t(l.head_dim);
  a.held = uint32_t(store.held());
  a.sequences = uint32_t(state.description().sequences);
  a.context = uint32_t(state.description().context);
  return a;
}

Binding store_of(const MetalState& state, const KeyValueStore& store) {
  const auto* first = reinterpret_cast<const std::byte*>(store.keys(0, 0));
  return {&state.device(), uint64_t(first - state.device().data()), store.bytes()};
}

}  // namespace

Status Recorder::one(const AppendKeyValue& o) {
  SOFFIT_TRY(MetalState * state, state_of(o.state));
  const KeyValueStore& store = *state->key_values(o.layer);
  if (o.k.rows == 0) return {};
  KeyValueArguments a = key_values(*state, store);
  a.k_stride = uint64_t(o.k.row_stride);
  a.v_stride = uint64_t(o.v.row_stride);
  plan_.after_.push_back([=, &store] {
    Status fault;
    for (int64_t i = 0; i < o.k.rows; ++i) {
      const Place at = place_at(o.sequences, o.positions, i);
      Status status = check_place("append_key_value", state->description(), at);
      if (status)
        store.appended(at.sequence, at.position);
      else if (fault)
        fault = std::move(status);
    }
    return fault;
  });
  SOFFIT_TRY(const Binding k, bind(o.k));
  SOFFIT_TRY(const Binding v, bind(o.v));
  SOFFIT_TRY(const Binding sequences, bind(o.sequences));
  SOFFIT_TRY(const Binding positions, bind(o.positions));
  return dispatch(store.half() ? "append_key_value_f16" : "append_key_value_f32", a,
                  {k, v, store_of(*state, store), sequences, positions}, {a.heads, uint32_t(o.k.rows), 1});
}

Status Recorder::one(const Attention& o) {
  SOFFIT_TRY(MetalState * state, state_of(o.state));
  const KeyValueStore& store = *state->key_values(o.layer);
  if (store.layer().head_dim > kMostHeadDim)
    return unsupported(
        concat("attention: heads of ", store.layer().head_dim, "; the Metal kernel takes up to ", kMostHeadDim));
  if (o.q.rows == 0) return {};
  KeyValueArguments a = key_values(*state, store);
  a.k_stride = uint64_t(o.q.row_stride);
  a.v_stride = uint64_t(o.y.row_stride);
  a.query_heads = uint32_t(o.query_heads);
  a.window = uint32_t(o.window);
  a.scale = o.scale;
  plan_.after_.push_back([=, &store]() -> Status {
    for (int64_t i = 0; i < o.q.rows; ++i) {
      const Place at = place_at(o.sequences, o.positions, i);
      SOFFIT_CHECK(check_place("attention", state->description(), at));
      SOFFIT_CHECK(check_held(store, at, first_seen(at, o.window)));
    }
    return {};
  });
  SOFFIT_TRY(const Binding q, bind(o.q));
  SOFFIT_TRY(const Binding y, bind(o.y));
  SOFFIT_TRY(const Binding sequences, bind(o.sequences));
  SOFFIT_TRY(const Binding positions, bind(o.positions));
  return dispatch(store.half() ? "attention_f16" : "attention_f32", a,
                  {q, store_of(*state, store), sequences, positions, y}, {a.query_heads, uint32_t(o.q.rows), 1});
}

namespace {

// Where a sequence's layer begins, `floats` on from its start, for all sequences.
Binding recurrent_of(const MetalState& state, const RecurrentStore& store, int64_t floats) {
  const auto* first = reinterpret_cast<const std::byte*>(store.all(0).data());
  const uint64_t offset = uint64_t(floats) * sizeof(float);
  return {&state.device(), uint64_t(first - state.device().data()) + offset, store.bytes() - offset};
}

// Counts the rows of a batch on; an error when one is not the next of its sequence.
Status count_rows(const char* operation, RecurrentStore& store, const StateDescription& d, const ArrayView& sequences,
                  const ArrayView& positions, int64_t first_unit, int64_t units) {
  for (int64_t i = 0; i < sequences.cols; ++i) {
    const Place at = place_at(sequences, positions, i);
    SOFFIT_CHECK(check_place(operation, d, at));
    SOFFIT_CHECK(check_next(operation, at, store.channel_rows(at.sequence, first_unit)));
    for (int64_t unit = first_unit; unit < first_unit + units; ++unit)
      store.channel_rows(at.sequence, unit) = at.position + 1;
  }
  return {};
}

}  // namespace

Status Recorder::one(const ShortConvolution& o) {
  SOFFIT_TRY(MetalState * state, state_of(o.state));
  RecurrentStore& store = *state->recurrent(o.layer);
  if (o.x.rows == 0 || store.layer().channels == 0) return {};
  plan_.after_.push_back([=, &store] {
    return count_rows("short_convolution", store, state->description(), o.sequences, o.positions, 0,
                      store.channel_units());
  });
  ConvolutionArguments a{};
  a.x_stride = uint64_t(o.x.row_stride);
  a.weight_stride = uint64_t(o.weight.row_stride);
  a.y_stride = uint64_t(o.y.row_stride);
  a.sequence_stride = store.all(0).size();
  a.rows = uint32_t(o.x.rows);
  a.channels = uint32_t(store.layer().channels);
  a.taps = uint32_t(store.layer().taps);
  a.gate = uint32_t(o.activation);
  a.sequences = uint32_t(state->description().sequences);
  a.positions = uint32_t(state->description().context);
  SOFFIT_TRY(const Binding x, bind(o.x));
  SOFFIT_TRY(const Binding weight, bind(o.weight));
  SOFFIT_TRY(const Binding sequences, bind(o.sequences));
  SOFFIT_TRY(const Binding positions, bind(o.positions));
  SOFFIT_TRY(const Binding y, bind(o.y));
  return dispatch_elements("short_convolution", a, {x, weight, recurrent_of(*state, store, 0), sequences, positions, y},
                           1, a.channels);
}

Status Recorder::one(const GatedDeltaRule& o) {
  SOFFIT_TRY(MetalState * state, state_of(o.state));
  RecurrentStore& store = *state->recurrent(o.layer);
  const RecurrentLayer& l = store.layer();
  if (o.q.rows == 0 || l.heads == 0) return {};
  if (l.key_dim > kMostKeyDim)
    return unsupported(concat("keys of ", l.key_dim, "; the Metal kernel takes up to ", kMostKeyDim));
  plan_.after_.push_back([=, &store] {
    return count_rows("gated_delta_rule", store, state->description(), o.sequences, o.positions, store.channel_units(),
                      store.layer().heads);
  });
  DeltaRuleArguments a{};
  a.q_stride = uint64_t(o.q.row_stride);
  a.k_stride = uint64_t(o.k.row_stride);
  a.v_stride = uint64_t(o.v.row_stride);
  a.time_stride = uint64_t(o.time.row_stride);
  a.beta_stride = uint64_t(o.beta.row_stride);
  a.y_stride = uint64_t(o.y.row_stride);
  a.sequence_stride = store.all(0).size();
  a.rows = uint32_t(o.q.rows);
  a.heads = uint32_t(l.heads);
  a.key_heads = uint32_t(o.q.cols / l.key_dim);
  a.key_dim = uint32_t(l.key_dim);
  a.value_dim = uint32_t(l.value_dim);
  a.sequences = uint32_t(state->description().sequences);
  a.positions = uint32_t(state->description().context);
  a.epsilon = o.epsilon;
  a.scale = o.scale;
  std::vector<Binding> buffers;
  for (const ArrayView* v : {&o.q, &o.k, &o.v, &o.time, &o.beta, &o.rate, &o.time_bias}) {
    SOFFIT_TRY(const Binding binding, bind(*v));
    buffers.push_back(binding);
  }
  buffers.push_back(recurrent_of(*state, store, store.matrix(0, 0) - store.all(0).data()));
  for (const ArrayView* v : {&o.sequences, &o.positions, &o.y}) {
    SOFFIT_TRY(const Binding binding, bind(*v));
    buffers.push_back(binding);
  }
  SOFFIT_CHECK(dispatch("gated_delta_rule", a, std::move(buffers), {(a.value_dim + 31) / 32, a.heads, 1}));
  plan_.dispatches_.back().threadgroup_bytes = 2 * a.key_dim * uint32_t(sizeof(float));
  return {};
}

}  // namespace soffit::metal
