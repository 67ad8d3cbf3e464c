#include "model/model.hpp"

#include <algorithm>
#include <utility>

namespace soffit::model {
namespace {

// f(weights, the share of its experts that one token uses)
template <class F>
void for_each_matrix(const Config& config, const ModelWeights& weights, F f) {
  for (const LayerWeights& layer : weights.layers) {
    const double share = config.experts > 0 ? double(config.experts_used) / double(config.experts) : 1.0;
    for (const Projection& projection : layer.query_key_value) f(*projection.weights, 1.0);
    f(*layer.attention_output.weights, 1.0);
    if (layer.router.weights) f(*layer.router.weights, 1.0);
    for (const Projection& projection : layer.gate_up) f(*projection.weights, share);
    f(*layer.down.weights, share);
  }
  f(*weights.output.weights, 1.0);
}

// Keys that the next token of a sequence sees in a layer, its own included.
int64_t visible_keys(const LayerConfig& layer, int64_t depth) {
  return layer.window > 0 ? std::min(layer.window, depth + 1) : depth + 1;
}

}  // namespace

Model::Model(std::shared_ptr<const gguf::File> file, Backend& backend, Config config, ModelWeights weights)
    : file_(std::move(file)), backend_(backend), config_(std::move(config)), weights_(std::move(weights)) {}

Result<std::unique_ptr<const Model>> Model::load(std::shared_ptr<const gguf::File> file, Backend& backend,
                                                 const LoadOptions& options) {
  SOFFIT_TRY(Config config, read_config(*file));
  SOFFIT_TRY(ModelWeights weights, load_weights(file, config, backend, options));
  return std::unique_ptr<const Model>(new Model(std::move(file), backend, std::move(config), std::move(weights)));
}

uint64_t Model::weight_bytes_per_token() const {
  uint64_t bytes = weights_.embedding->file_bytes() / uint64_t(config_.vocabulary);
  for_each_matrix(config_, weights_,
                  [&](const Weights& w, double share) { bytes += uint64_t(double(w.file_bytes()) * share); });
  return bytes;
}

uint64_t Model::key_value_bytes_per_token(int64_t depth, DataType type) const {
  uint64_t bytes = 0;
  for (const LayerConfig& layer : config_.layers) {
    bytes += uint64_t(2 * visible_keys(layer, depth) * config_.key_value_columns(layer) * size_of(type));
  }
  return bytes;
}

uint64_t Model::flops_per_token(int64_t depth) const {
  uint64_t flops = 0;
  for_each_matrix(config_, weights_, [&](const Weights& w, double share) {
    flops += uint64_t(2.0 * double(w.rows()) * double(w.cols()) * double(w.experts()) * share);
  });
  for (const LayerConfig& layer : config_.layers) {
    flops += uint64_t(4 * visible_keys(layer, depth) * config_.query_columns(layer));
  }
  return flops;
}

uint64_t Model::layout_bytes() const {
  uint64_t bytes = 0;
  for (const auto& matrix : weights_.matrices) bytes += matrix->layout_bytes();
  return bytes;
}

uint64_t Model::file_bytes() const {
  uint64_t bytes = 0;
  for (const auto& matrix : weights_.matrices) bytes += matrix->file_bytes();
  return bytes;
}

}  // namespace soffit::model
