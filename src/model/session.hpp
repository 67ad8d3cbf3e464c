// A model at work: its memory of some sequences, and the plans that extend them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/blocks.hpp"
#include "model/model.hpp"
#include "model/workspace.hpp"
#include "soffit/backend.hpp"

namespace soffit::model {

struct SessionOptions {
  int64_t context = 4096;  // positions a sequence can hold
  int64_t batch = 512;     // most tokens in one run
  int64_t outputs = 1;     // most rows of a batch whose logits are computed
  int64_t sequences = 1;
  DataType key_value_type = DataType::f16;  // or f32
  bool timed = false;                       // plans count the seconds of their operations
};

struct BatchRow {
  int32_t token = 0;
  int32_t sequence = 0;
  int32_t position = 0;
};

// One thread at a time. After the first batch of a size nothing allocates in decode().
class Session {
 public:
  // The model must outlive the session.
  static Result<std::unique_ptr<Session>> create(const Model& model, const SessionOptions& options);

  // Runs a batch. `wanted` names the rows, ascending, whose logits are computed. Each row must be the next position of
  // its sequence; a full sequence is an error, and then nothing has changed. The result, (wanted, vocabulary), is valid
  // until the next call.
  Result<std::span<const float>> decode(std::span<const BatchRow> rows, std::span<const int32_t> wanted);

  // Extends a sequence by any number of tokens, in batches; the logits are those of the last one. `keep_going` is asked
  // before each batch.
  Result<std::span<const float>> append(int64_t sequence, std::span<const int32_t> tokens,
                                        const std::function<bool()>& keep_going = {});

  int64_t length(int64_t sequence) const { return lengths_[size_t(sequence)]; }
  // Code::unsupported where a layer does not hold what the next token would see; see State::truncate.
  Status truncate(int64_t sequence, int64_t length);
  // Truncates, or where that is unsupported empties the sequence; says how many tokens are held now.
  Result<int64_t> rewind(int64_t sequence, int64_t length);
  Status copy(int64_t from, int64_t to);  // `to` becomes what `from` is
  Result<std::vector<std::byte>> save(int64_t sequence) const;
  Status load(int64_t sequence, std::span<const std::byte> saved);

  const Model& model() const { return model_; }
  const SessionOptions& options() const { return options_; }
  uint64_t state_bytes() const { return state_->size_bytes(); }
  // The plan of the last decode(), for its statistics and times; null before the first.
  const Plan* last_plan() const { return last_plan_; }

 private:
  struct CachedPlan {
    int64_t rows = 0, outputs = 0;
    uint64_t last_use = 0;
    std::unique_ptr<Plan> plan;
  };

  Session(const Model& model, const SessionOptions& options);
  Status check_batch(std::span<const BatchRow> rows, std::span<const int32_t> wanted);
  Status check_sequence(int64_t sequence) const;
  Result<Plan*> plan_for(int64_t rows, int64_t outputs);
  Status write_inputs(std::span<const BatchRow> rows, std::span<const int32_t> wanted);
  Result<std::span<const float>> read_logits(int64_t outputs);

  const Model& model_;
  SessionOptions options_;
  std::unique_ptr<State> state_;
  Workspace space_;
  std::vector<int64_t> lengths_;
  std::vector<CachedPlan> plans_;
  uint64_t uses_ = 0;
  const Plan* last_plan_ = nullptr;
  // Kept so that decode() need not allocate.
  std::vector<int64_t> next_;
  std::vector<int32_t> inputs_;
  std::vector<BatchRow> rows_;
  std::vector<float> logits_;  // empty where the host reaches the backend's memory
};

}  // namespace soffit::model
