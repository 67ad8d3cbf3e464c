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

  // Work for one more token of a sequence that holds `depth`: bytes of weights that are read (each matrix once, of
  // experts those that a token uses, of the embedding table one row), and floating-point operations.
  uint64_t weight_bytes_per_token() const;
  uint64_t key_value_bytes_per_token(int64_t depth, DataType type) const;  // keys and values that are read
  uint64_t flops_per_token(int64_t depth) const;                           // two for each weight and each key element

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
