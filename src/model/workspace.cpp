#include "model/workspace.hpp"

#include <algorithm>
#include <set>

#include "model/architecture.hpp"

namespace soffit::model {

std::string ActivationsPool::key(const Readers& readers) {
  std::set<std::string_view> layouts;
  for (const Weights* weights : readers) {
    for (size_t i = 0; i < weights->parts().size(); i++) layouts.insert(weights->layout_name(i));
  }
  std::string key = std::to_string(readers.front()->cols());
  for (const std::string_view layout : layouts) key.append(" ").append(layout);
  return key;
}

void ActivationsPool::reserve(const Readers& readers, int64_t rows) {
  Entry& entry = entries_[key(readers)];
  entry.readers.insert(entry.readers.end(), readers.begin(), readers.end());
  entry.rows = std::max(entry.rows, rows);
}

Status ActivationsPool::create(Backend& backend) {
  for (auto& [key, entry] : entries_) {
    SOFFIT_TRY(entry.activations, backend.new_activations(entry.rows, entry.readers.front()->cols(), entry.readers));
  }
  return {};
}

Activations* ActivationsPool::get(const Readers& readers) const {
  const auto found = entries_.find(key(readers));
  return found == entries_.end() ? nullptr : found->second.activations.get();
}

ActivationsPool::Readers attention_readers(const LayerWeights& layer) {
  ActivationsPool::Readers readers;
  for (const Projection& projection : layer.query_key_value) readers.push_back(projection.weights);
  return readers;
}

ActivationsPool::Readers feed_forward_readers(const LayerWeights& layer) {
  ActivationsPool::Readers readers;
  if (layer.router.weights) readers.push_back(layer.router.weights);
  for (const Projection& projection : layer.gate_up) readers.push_back(projection.weights);
  return readers;
}

namespace {

// Columns of the widest layer.
struct Widths {
  int64_t queries = 0, query_key_value = 0, hidden = 0;
};

Widths widths(const Config& config, const ModelWeights& weights) {
  Widths widest;
  for (size_t i = 0; i < config.layers.size(); i++) {
    const LayerConfig& layer = config.layers[i];
    const int64_t queries = config.query_columns(layer);
    // Gate and up that are not stacked both need their place; the gated result of a stacked pair needs one.
    const int64_t hidden = layer.feed_forward * int64_t(weights.layers[i].gate_up.size());
    widest.queries = std::max(widest.queries, queries);
    widest.query_key_value = std::max(widest.query_key_value, queries + 2 * config.key_value_columns(layer));
    widest.hidden = std::max(widest.hidden, hidden);
  }
  return widest;
}

}  // namespace

Result<Workspace> Workspace::create(const Config& config, const ModelWeights& weights, Backend& backend, int64_t batch,
                                    int64_t outputs) {
  Workspace space;
  space.batch = batch;
  space.outputs = outputs;
  const int64_t slots = batch * std::max<int64_t>(1, config.experts_used);
  const Widths widest = widths(config, weights);
  const auto allocate = [&](std::unique_ptr<Buffer>& buffer, int64_t rows, int64_t cols) -> Status {
    SOFFIT_TRY(buffer, backend.new_buffer(uint64_t(rows) * uint64_t(cols) * 4));
    return {};
  };
  SOFFIT_CHECK(allocate(space.inputs, 4, batch));
  SOFFIT_CHECK(allocate(space.residual, batch, config.embedding));
  SOFFIT_CHECK(allocate(space.query_key_value, batch, widest.query_key_value));
  SOFFIT_CHECK(allocate(space.attention, batch, widest.queries));
  SOFFIT_CHECK(allocate(space.hidden, slots, widest.hidden));
  if (config.architecture->post_norms || config.experts > 0) {
    SOFFIT_CHECK(allocate(space.added, slots, config.embedding));
  }
  if (config.experts > 0) {
    SOFFIT_CHECK(allocate(space.router, batch, config.experts));
    SOFFIT_CHECK(allocate(space.expert_ids, batch, config.experts_used));
    SOFFIT_CHECK(allocate(space.expert_shares, batch, config.experts_used));
  }
  SOFFIT_CHECK(allocate(space.output_residual, outputs, config.embedding));
  SOFFIT_CHECK(allocate(space.output_attention, outputs, widest.queries));
  SOFFIT_CHECK(allocate(space.logits, outputs, config.vocabulary));

  for (const LayerWeights& layer : weights.layers) {
    space.activations.reserve(attention_readers(layer), batch);
    space.activations.reserve({layer.attention_output.weights}, batch);
    space.activations.reserve(feed_forward_readers(layer), batch);
    space.activations.reserve({layer.down.weights}, slots);
  }
  space.activations.reserve({weights.output.weights}, outputs);
  SOFFIT_CHECK(space.activations.create(backend));
  return space;
}

}  // namespace soffit::model
