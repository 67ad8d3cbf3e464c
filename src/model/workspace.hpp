// The memory that a model's plans compute in: one set of buffers, sized for the largest batch, that all of them share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/weights.hpp"
#include "soffit/backend.hpp"

namespace soffit::model {

// Prepared activations by what reads them: linear layers of one width whose layouts are the same share one object.
class ActivationsPool {
 public:
  using Readers = std::vector<const Weights*>;
  // Everything that will be asked for is named first, then made, then got.
  void reserve(const Readers& readers, int64_t rows);
  Status create(Backend& backend);
  Activations* get(const Readers& readers) const;

 private:
  struct Entry {
    Readers readers;
    int64_t rows = 0;
    std::unique_ptr<Activations> activations;
  };
  static std::string key(const Readers& readers);
  std::map<std::string, Entry> entries_;
};

// What reads each of a layer's prepared activations.
ActivationsPool::Readers attention_readers(const LayerWeights& layer);     // the normalised residual
ActivationsPool::Readers feed_forward_readers(const LayerWeights& layer);  // the normalised residual

struct Workspace {
  static Result<Workspace> create(const Config& config, const ModelWeights& weights, Backend& backend, int64_t batch,
                                  int64_t outputs);

  int64_t batch = 0;    // rows of the largest batch
  int64_t outputs = 0;  // of which at most so many have their logits computed

  std::unique_ptr<Buffer> inputs;  // i32: a plan's tokens, positions, sequences, output rows, one after the other
  std::unique_ptr<Buffer> residual, query_key_value, attention, hidden;
  std::unique_ptr<Buffer> added;                              // before a post norm, or of each expert
  std::unique_ptr<Buffer> router, expert_ids, expert_shares;  // where there are experts
  std::unique_ptr<Buffer> output_residual, output_attention;  // the rows whose logits are wanted, in the last layer
  std::unique_ptr<Buffer> logits;
  ActivationsPool activations;
};

}  // namespace soffit::model
