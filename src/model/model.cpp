#include "model/model.hpp"

#include <algorithm>
#include <utility>

namespace soffit::model {
namespace {

// f(weights, true for those of experts), of all linear layers but the output.
template <class F>
void for_each_matrix(const ModelWeights& weights, F f) {
  for (const LayerWeights& layer : weights.layers) {
    const bool experts = layer.router.weights != nullptr;
    for (const Projection& projection : layer.query_key_value) f(*projection.weights, false);
    f(*layer.attention_output.weights, false);
    if (experts) f(*layer.router.weights, false);
    for (const Projection& projection : layer.gate_up) f(*projection.weights, experts);
    f(*layer.down.weights, experts);
  }
}

// Keys that the token at this position sees in a layer, its own included.
int64_t visible_keys(const LayerConfig& layer, int64_t position) {
  return layer.window > 0 ? std::min(layer.window, position + 1) : position + 1;
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

uint64_t Model::weight_bytes(int64_t tokens, int64_t outputs) const {
  uint64_t bytes = uint64_t(tokens) * (weights_.embedding->file_bytes() / uint64_t(config_.vocabulary));
  const int64_t experts = std::min(config_.experts, tokens * config_.experts_used);
  for_each_matrix(weights_, [&](const Weights& weights, bool of_experts) {
    const uint64_t all = weights.file_bytes();
    bytes += of_experts ? all / uint64_t(config_.experts) * uint64_t(experts) : all;
  });
  if (outputs > 0) bytes += weights_.output.weights->file_bytes();
  return bytes;
}

uint64_t Model::key_value_bytes(int64_t position, DataType type) const {
  uint64_t bytes = 0;
  for (const LayerConfig& layer : config_.layers) {
    bytes += uint64_t(2 * visible_keys(layer, position) * config_.key_value_columns(layer) * size_of(type));
  }
  return bytes;
}

double Model::flops(int64_t tokens, int64_t outputs, int64_t depth) const {
  double per_token = 0;
  for_each_matrix(weights_, [&](const Weights& weights, bool of_experts) {
    per_token += 2.0 * double(weights.rows()) * double(weights.cols()) * double(of_experts ? config_.experts_used : 1);
  });
  double sum = per_token * double(tokens);
  sum += 2.0 * double(weights_.output.weights->rows()) * double(config_.embedding) * double(outputs);
  for (const LayerConfig& layer : config_.layers) {
    for (int64_t i = 0; i < tokens; i++) {
      sum += 4.0 * double(visible_keys(layer, depth + i)) * double(config_.query_columns(layer));
    }
  }
  return sum;
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
