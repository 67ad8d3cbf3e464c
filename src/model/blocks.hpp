// The building blocks of which architectures record a batch: each appends the operations of one part of a transformer.
#pragma once

#include <vector>

#include "model/config.hpp"
#include "model/weights.hpp"
#include "model/workspace.hpp"
#include "soffit/operation.hpp"

namespace soffit::model {

// What stands in a plan's input buffer.
struct BatchInputs {
  BatchInputs(Buffer& buffer, int64_t rows, int64_t outputs);
  ArrayView tokens, positions, sequences;  // (1, rows), i32
  ArrayView outputs;                       // (1, outputs), i32: ascending rows
};

class Blocks {
 public:
  // A batch of `rows` tokens, of which `outputs` want their logits.
  Blocks(const Config& config, const ModelWeights& weights, const Workspace& workspace, State& state, int64_t rows,
         int64_t outputs);

  size_t layers() const { return config_.layers.size(); }

  // residual = embedding of the tokens.
  void embed();
  // attention = the mixed values of the layer's heads, from the normalised residual. In the last layer only the rows
  // that want logits stay; false when none do, and nothing more need be recorded.
  bool attend(size_t layer);
  // residual += the projected attention, normalised before it is added where the layer has such a norm.
  void add_attention(size_t layer);
  // residual += feed-forward part of the normalised residual, dense or by experts.
  void add_feed_forward(size_t layer, Activation activation);
  // logits of the normalised residual.
  void project_output();

  std::vector<Operation> take() { return std::move(operations_); }

 private:
  ArrayView rows_of(Buffer& buffer, int64_t cols, DataType type = DataType::f32) const;
  Activations* normalise(const ArrayView& norm, const ActivationsPool::Readers& readers);
  Activations* prepare(const ArrayView& x, const Weights* reader);
  void query_key_value(size_t layer);
  void keep_wanted_rows(size_t layer);
  void add_projection(const Projection& projection, const Activations* x, const ArrayView& post_norm);
  void dense_feed_forward(const LayerWeights& weights, int64_t hidden, Activation activation);
  void expert_feed_forward(const LayerWeights& weights, int64_t hidden, Activation activation);
  template <class Op>
  void record(Op operation) {
    operations_.push_back(std::move(operation));
  }

  const Config& config_;
  const ModelWeights& weights_;
  const Workspace& space_;
  State& state_;
  int64_t rows_;  // of the batch; from the last layer's attention on those that want logits
  int64_t outputs_;
  BatchInputs inputs_;
  ArrayView residual_, attention_;
  std::vector<Operation> operations_;
};

// Embedding, then in each layer attention and a feed-forward part, both on the normalised residual, then the output.
void record_transformer(Blocks& blocks, Activation activation);

}  // namespace soffit::model
