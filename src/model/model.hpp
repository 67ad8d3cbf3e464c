// A model ready to run: its hyper-parameters and its weights on a backend. Sessions run it.
#pragma once

#include <memory>

#include "model/config.hpp"
#include "model/weights.hpp"
#include "soffit/backend.hpp"
#include "soffit/gguf.hpp"

namespace soffit::model {

class Model {
 public:
  // The backend must outlive the model.
  static Result<std::unique_ptr<const Model>> load(std::shared_ptr<const gguf::File> file, Backend& backend,
                                                   const LoadOptions& options = {});

  const Config& config() const { return config_; }
  const ModelWeights& weights() const { return weights_; }
  Backend& backend() const { return backend_; }
  const gguf::File& file() const { return *file_; }

  // What a batch of `tokens` reads of the weights, in the file's bytes: each matrix once, of the embedding table a row
  // for each token, of the experts as many as the tokens can use at most. The output matrix counts only where logits
  // are wanted.
  uint64_t weight_bytes(int64_t tokens, int64_t outputs) const;
  // Keys and values that a token at this position reads, its own included.
  uint64_t key_value_bytes(int64_t position, DataType type) const;
  // Floating-point operations of `tokens` that follow on `depth` held ones: two for each weight of a linear layer,
  // four for each element of a visible key.
  double flops(int64_t tokens, int64_t outputs, int64_t depth) const;

  // Bytes of the weights as the backend holds them, and as the file does.
  uint64_t layout_bytes() const;
  uint64_t file_bytes() const;

 private:
  Model(std::shared_ptr<const gguf::File> file, Backend& backend, Config config, ModelWeights weights);

  std::shared_ptr<const gguf::File> file_;
  Backend& backend_;
  Config config_;
  ModelWeights weights_;
};

}  // namespace soffit::model
