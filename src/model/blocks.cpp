#include "model/blocks.hpp"

#include <utility>

namespace soffit::model {
namespace {

ArrayView integers(Buffer& buffer, int64_t first, int64_t count) {
  return ArrayView{&buffer, uint64_t(first) * 4, DataType::i32, 1, count, count};
}

Epilogue epilogue(const Projection& projection) {
  Epilogue epilogue;
  epilogue.scale = projection.scale;
  epilogue.bias = projection.bias;
  return epilogue;
}

}  // namespace

BatchInputs::BatchInputs(Buffer& buffer, int64_t rows, int64_t output_rows)
    : tokens(integers(buffer, 0, rows)),
      positions(integers(buffer, rows, rows)),
      sequences(integers(buffer, 2 * rows, rows)),
      outputs(integers(buffer, 3 * rows, output_rows)) {}

Blocks::Blocks(const Config& config, const ModelWeights& weights, const Workspace& workspace, State& state,
               int64_t rows, int64_t outputs)
    : config_(config),
      weights_(weights),
      space_(workspace),
      state_(state),
      rows_(rows),
      outputs_(outputs),
      inputs_(*workspace.inputs, rows, outputs) {}

ArrayView Blocks::rows_of(Buffer& buffer, int64_t cols, DataType type) const { return view(buffer, type, rows_, cols); }

Activations* Blocks::normalise(const ArrayView& norm, const ActivationsPool::Readers& readers) {
  Activations* activations = space_.activations.get(readers);
  record(RmsNorm{residual_, norm, config_.epsilon, {}, {}, activations});
  return activations;
}

Activations* Blocks::prepare(const ArrayView& x, const Weights* reader) {
  Activations* activations = space_.activations.get({reader});
  record(Prepare{x, activations});
  return activations;
}

void Blocks::embed() {
  residual_ = rows_of(*space_.residual, config_.embedding);
  record(GetRows{weights_.embedding, inputs_.tokens, residual_, config_.embedding_scale});
}

void Blocks::query_key_value(size_t layer) {
  const LayerConfig& config = config_.layers[layer];
  const LayerWeights& weights = weights_.layers[layer];
  const int64_t queries = config_.query_columns(config), keys = config_.key_value_columns(config);
  const ArrayView all = rows_of(*space_.query_key_value, queries + 2 * keys);
  const ArrayView q = all.columns(0, queries), k = all.columns(queries, keys), v = all.columns(queries + keys, keys);

  const Activations* x = normalise(weights.attention_norm, attention_readers(weights));
  int64_t column = 0;
  for (const Projection& projection : weights.query_key_value) {
    const int64_t cols = projection.weights->rows();
    record(Linear{projection.weights, x, all.columns(column, cols), epilogue(projection)});
    column += cols;
  }
  RopeParameters rope = config.rope;
  rope.frequency_factors = weights_.rope_factors;
  record(Rotate{q, config_.head_dim, weights.query_norm, config_.epsilon, rope, inputs_.positions});
  record(Rotate{k, config_.head_dim, weights.key_norm, config_.epsilon, rope, inputs_.positions});
  record(AppendKeyValue{k, v, &state_, int64_t(layer), inputs_.sequences, inputs_.positions});
}

bool Blocks::attend(size_t layer) {
  query_key_value(layer);
  const bool last = layer + 1 == layers();
  if (last && outputs_ == 0) return false;
  const LayerConfig& config = config_.layers[layer];
  const int64_t queries = config_.query_columns(config);
  const ArrayView q =
      rows_of(*space_.query_key_value, queries + 2 * config_.key_value_columns(config)).columns(0, queries);
  attention_ = rows_of(*space_.attention, queries);
  record(Attention{q, &state_, int64_t(layer), config.heads, config_.attention_scale, config.window, inputs_.sequences,
                   inputs_.positions, attention_});
  if (last && outputs_ < rows_) keep_wanted_rows(layer);
  return true;
}

void Blocks::keep_wanted_rows(size_t layer) {
  rows_ = outputs_;
  const ArrayView residual = rows_of(*space_.output_residual, config_.embedding);
  const ArrayView attention = rows_of(*space_.output_attention, config_.query_columns(config_.layers[layer]));
  record(Gather{residual_, inputs_.outputs, residual});
  record(Gather{attention_, inputs_.outputs, attention});
  residual_ = residual;
  attention_ = attention;
}

void Blocks::add_projection(const Projection& projection, const Activations* x, const ArrayView& post_norm) {
  Linear linear{projection.weights, x, residual_, epilogue(projection)};
  if (post_norm.empty()) {
    linear.epilogue.residual = residual_;
    record(linear);
    return;
  }
  linear.y = rows_of(*space_.added, config_.embedding);
  record(linear);
  record(RmsNorm{linear.y, post_norm, config_.epsilon, residual_, residual_, nullptr});
}

void Blocks::add_attention(size_t layer) {
  const LayerWeights& weights = weights_.layers[layer];
  const Activations* x = prepare(attention_, weights.attention_output.weights);
  add_projection(weights.attention_output, x, weights.post_attention_norm);
}

void Blocks::add_feed_forward(size_t layer, Activation activation) {
  const LayerWeights& weights = weights_.layers[layer];
  const int64_t hidden = config_.layers[layer].feed_forward;
  if (config_.experts > 0) {
    expert_feed_forward(weights, hidden, activation);
  } else {
    dense_feed_forward(weights, hidden, activation);
  }
}

void Blocks::dense_feed_forward(const LayerWeights& weights, int64_t hidden, Activation activation) {
  const Activations* x = normalise(weights.feed_forward_norm, feed_forward_readers(weights));
  Activations* gated = space_.activations.get({weights.down.weights});
  if (weights.gate_up.size() == 1) {
    Linear linear{weights.gate_up[0].weights, x, rows_of(*space_.hidden, hidden), epilogue(weights.gate_up[0])};
    linear.epilogue.gate = activation;
    record(linear);
    record(Prepare{linear.y, gated});
  } else {
    const ArrayView both = rows_of(*space_.hidden, 2 * hidden);
    const ArrayView gate = both.columns(0, hidden), up = both.columns(hidden, hidden);
    record(Linear{weights.gate_up[0].weights, x, gate, epilogue(weights.gate_up[0])});
    record(Linear{weights.gate_up[1].weights, x, up, epilogue(weights.gate_up[1])});
    record(GatedActivation{gate, up, activation, {}, gated});
  }
  add_projection(weights.down, gated, weights.post_feed_forward_norm);
}

void Blocks::expert_feed_forward(const LayerWeights& weights, int64_t hidden, Activation activation) {
  const int64_t used = config_.experts_used, slots = rows_ * used;
  const ArrayView logits = rows_of(*space_.router, config_.experts);
  const ArrayView ids = rows_of(*space_.expert_ids, used, DataType::i32);
  const ArrayView shares = rows_of(*space_.expert_shares, used);
  const Activations* x = normalise(weights.feed_forward_norm, feed_forward_readers(weights));
  record(Linear{weights.router.weights, x, logits, epilogue(weights.router)});
  record(Route{logits, ids, shares});

  Activations* gated = space_.activations.get({weights.down.weights});
  if (weights.gate_up.size() == 1) {
    LinearId linear{weights.gate_up[0].weights,  x, ids, false, view(*space_.hidden, DataType::f32, slots, hidden),
                    epilogue(weights.gate_up[0])};
    linear.epilogue.gate = activation;
    record(linear);
    record(Prepare{linear.y, gated});
  } else {
    const ArrayView both = view(*space_.hidden, DataType::f32, slots, 2 * hidden);
    const ArrayView gate = both.columns(0, hidden), up = both.columns(hidden, hidden);
    record(LinearId{weights.gate_up[0].weights, x, ids, false, gate, epilogue(weights.gate_up[0])});
    record(LinearId{weights.gate_up[1].weights, x, ids, false, up, epilogue(weights.gate_up[1])});
    record(GatedActivation{gate, up, activation, {}, gated});
  }
  const ArrayView each = view(*space_.added, DataType::f32, slots, config_.embedding);
  record(LinearId{weights.down.weights, gated, ids, true, each, epilogue(weights.down)});
  record(Combine{each, shares, residual_, residual_});
}

void Blocks::project_output() {
  const Activations* x = normalise(weights_.output_norm, {weights_.output.weights});
  const ArrayView logits = rows_of(*space_.logits, config_.vocabulary);
  record(Linear{weights_.output.weights, x, logits, epilogue(weights_.output)});
  if (config_.final_soft_cap > 0) record(SoftCap{logits, config_.final_soft_cap, logits});
}

void record_transformer(Blocks& blocks, Activation activation) {
  blocks.embed();
  for (size_t layer = 0; layer < blocks.layers(); layer++) {
    if (!blocks.attend(layer)) return;
    blocks.add_attention(layer);
    blocks.add_feed_forward(layer, activation);
  }
  blocks.project_output();
}

}  // namespace soffit::model
