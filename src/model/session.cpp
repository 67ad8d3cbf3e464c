#include "model/session.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/architecture.hpp"

namespace soffit::model {
namespace {

// Batch sizes whose plans are kept; prompts of a conversation come in many sizes.
constexpr size_t kMaxPlans = 32;

Status check_options(const SessionOptions& options) {
  const auto check = [](const char* name, int64_t value, int64_t least, int64_t most) -> Status {
    if (value >= least && value <= most) return {};
    return invalid_argument(std::string(name) + " is " + std::to_string(value) + ", expected " + std::to_string(least) +
                            " to " + std::to_string(most));
  };
  SOFFIT_CHECK(check("context", options.context, 1, kMaxPositions));
  SOFFIT_CHECK(check("batch", options.batch, 1, 1 << 16));
  SOFFIT_CHECK(check("outputs", options.outputs, 1, options.batch));
  SOFFIT_CHECK(check("sequences", options.sequences, 1, 1 << 16));
  if (options.key_value_type == DataType::f16 || options.key_value_type == DataType::f32) return {};
  return unsupported(std::string("keys and values as ") + to_string(options.key_value_type) + "; supported: f16, f32");
}

}  // namespace

Session::Session(const Model& model, const SessionOptions& options) : model_(model), options_(options) {
  lengths_.resize(size_t(options.sequences), 0);
  next_.resize(lengths_.size());
  inputs_.reserve(size_t(4 * options.batch));
  rows_.reserve(size_t(options.batch));
  plans_.reserve(kMaxPlans);
}

Result<std::unique_ptr<Session>> Session::create(const Model& model, const SessionOptions& options) {
  SOFFIT_CHECK(check_options(options));
  std::unique_ptr<Session> session(new Session(model, options));
  StateDescription description;
  for (const LayerConfig& layer : model.config().layers) {
    description.layers.push_back(KeyValueLayer{layer.key_value_heads, model.config().head_dim, layer.window});
  }
  description.sequences = options.sequences;
  description.context = options.context;
  description.type = options.key_value_type;
  description.batch = options.batch;
  Backend& backend = model.backend();
  SOFFIT_TRY(session->state_, backend.new_state(description));
  SOFFIT_TRY(session->space_,
             Workspace::create(model.config(), model.weights(), backend, options.batch, options.outputs));
  if (!session->space_.logits->host()) {
    session->logits_.resize(size_t(options.outputs * model.config().vocabulary));
  }
  return session;
}

Status Session::check_sequence(int64_t sequence) const {
  if (sequence >= 0 && sequence < options_.sequences) return {};
  return invalid_argument("sequence " + std::to_string(sequence) + " of " + std::to_string(options_.sequences));
}

Status Session::check_batch(std::span<const BatchRow> rows, std::span<const int32_t> wanted) {
  if (rows.empty() || int64_t(rows.size()) > options_.batch) {
    return invalid_argument("a batch of " + std::to_string(rows.size()) + " tokens, expected 1 to " +
                            std::to_string(options_.batch));
  }
  if (int64_t(wanted.size()) > options_.outputs) {
    return invalid_argument("logits of " + std::to_string(wanted.size()) + " rows are wanted, room for " +
                            std::to_string(options_.outputs));
  }
  for (size_t i = 0; i < wanted.size(); i++) {
    if (wanted[i] < 0 || size_t(wanted[i]) >= rows.size() || (i > 0 && wanted[i] <= wanted[i - 1])) {
      return invalid_argument("wanted row " + std::to_string(wanted[i]) + " of a batch of " +
                              std::to_string(rows.size()) + ": rows must ascend");
    }
  }
  std::ranges::copy(lengths_, next_.begin());
  for (const BatchRow& row : rows) {
    if (row.token < 0 || row.token >= model_.config().vocabulary) {
      return invalid_argument("token " + std::to_string(row.token) + " of a vocabulary of " +
                              std::to_string(model_.config().vocabulary));
    }
    SOFFIT_CHECK(check_sequence(row.sequence));
    int64_t& next = next_[size_t(row.sequence)];
    if (next >= options_.context) {
      return invalid_argument("the context is full: sequence " + std::to_string(row.sequence) + " holds " +
                              std::to_string(lengths_[size_t(row.sequence)]) + " tokens and the batch exceeds its " +
                              std::to_string(options_.context) + " positions");
    }
    if (row.position != next) {
      return invalid_argument("position " + std::to_string(row.position) + " of sequence " +
                              std::to_string(row.sequence) + ", whose next is " + std::to_string(next));
    }
    next++;
  }
  return {};
}

Result<Plan*> Session::plan_for(int64_t rows, int64_t outputs) {
  for (CachedPlan& cached : plans_) {
    if (cached.rows != rows || cached.outputs != outputs) continue;
    cached.last_use = ++uses_;
    return cached.plan.get();
  }
  Blocks blocks(model_.config(), model_.weights(), space_, *state_, rows, outputs);
  model_.config().architecture->record(blocks);
  const std::vector<Operation> operations = blocks.take();
  SOFFIT_TRY(auto plan, model_.backend().plan(operations, {options_.timed}));
  if (plans_.size() == kMaxPlans) {
    const auto oldest = std::ranges::min_element(plans_, {}, &CachedPlan::last_use);
    if (last_plan_ == oldest->plan.get()) last_plan_ = nullptr;
    plans_.erase(oldest);
  }
  plans_.push_back({rows, outputs, ++uses_, std::move(plan)});
  return plans_.back().plan.get();
}

Status Session::write_inputs(std::span<const BatchRow> rows, std::span<const int32_t> wanted) {
  inputs_.clear();
  for (const BatchRow& row : rows) inputs_.push_back(row.token);
  for (const BatchRow& row : rows) inputs_.push_back(row.position);
  for (const BatchRow& row : rows) inputs_.push_back(row.sequence);
  inputs_.insert(inputs_.end(), wanted.begin(), wanted.end());
  return space_.inputs->write(0, std::as_bytes(std::span(inputs_)));
}

Result<std::span<const float>> Session::read_logits(int64_t outputs) {
  const auto count = size_t(outputs * model_.config().vocabulary);
  if (const void* host = space_.logits->host()) return std::span(static_cast<const float*>(host), count);
  const auto logits = std::span(logits_).first(count);
  SOFFIT_CHECK(space_.logits->read(0, std::as_writable_bytes(logits)));
  return std::span<const float>(logits);
}

Result<std::span<const float>> Session::decode(std::span<const BatchRow> rows, std::span<const int32_t> wanted) {
  SOFFIT_CHECK(check_batch(rows, wanted));
  SOFFIT_TRY(Plan * plan, plan_for(int64_t(rows.size()), int64_t(wanted.size())));
  SOFFIT_CHECK(write_inputs(rows, wanted));
  SOFFIT_CHECK(plan->run());
  last_plan_ = plan;
  std::ranges::copy(next_, lengths_.begin());
  return read_logits(int64_t(wanted.size()));
}

Result<std::span<const float>> Session::append(int64_t sequence, std::span<const int32_t> tokens,
                                               const std::function<bool()>& keep_going) {
  SOFFIT_CHECK(check_sequence(sequence));
  if (tokens.empty()) return invalid_argument("no tokens to append");
  const int64_t held = length(sequence);
  if (int64_t(tokens.size()) > options_.context - held) {
    return invalid_argument("the context is full: " + std::to_string(tokens.size()) + " tokens after " +
                            std::to_string(held) + " exceed its " + std::to_string(options_.context) + " positions");
  }
  std::span<const float> logits;
  while (!tokens.empty()) {
    if (keep_going && !keep_going()) return Error{Code::cancelled, "the prompt was cancelled"};
    const size_t count = std::min(tokens.size(), size_t(options_.batch));
    rows_.clear();
    for (size_t i = 0; i < count; i++) {
      rows_.push_back({tokens[i], int32_t(sequence), int32_t(length(sequence) + int64_t(i))});
    }
    const int32_t last = int32_t(count) - 1;
    const auto wanted = std::span(&last, count == tokens.size() ? 1 : 0);
    SOFFIT_TRY(logits, decode(rows_, wanted));
    tokens = tokens.subspan(count);
  }
  return logits;
}

Status Session::truncate(int64_t sequence, int64_t length) {
  SOFFIT_CHECK(check_sequence(sequence));
  int64_t& held = lengths_[size_t(sequence)];
  if (length < 0 || length > held) {
    return invalid_argument("sequence " + std::to_string(sequence) + " holds " + std::to_string(held) +
                            " tokens and cannot be cut to " + std::to_string(length));
  }
  SOFFIT_CHECK(state_->truncate(sequence, length));
  held = length;
  return {};
}

Result<int64_t> Session::rewind(int64_t sequence, int64_t length) {
  const Status cut = truncate(sequence, length);
  if (cut) return length;
  if (cut.error().code != Code::unsupported) return cut.error();
  SOFFIT_CHECK(truncate(sequence, 0));
  return int64_t(0);
}

Status Session::copy(int64_t from, int64_t to) {
  SOFFIT_CHECK(check_sequence(from));
  SOFFIT_CHECK(check_sequence(to));
  if (from == to) return {};
  SOFFIT_CHECK(state_->copy(from, to, length(from)));
  lengths_[size_t(to)] = length(from);
  return {};
}

// The sequence's length, then what the state saved.
Result<std::vector<std::byte>> Session::save(int64_t sequence) const {
  SOFFIT_CHECK(check_sequence(sequence));
  const int64_t held = length(sequence);
  SOFFIT_TRY(auto saved, state_->save(sequence, held));
  const auto header = std::as_bytes(std::span(&held, 1));
  saved.insert(saved.begin(), header.begin(), header.end());
  return saved;
}

Status Session::load(int64_t sequence, std::span<const std::byte> saved) {
  SOFFIT_CHECK(check_sequence(sequence));
  int64_t length = -1;
  if (saved.size() >= sizeof length) std::memcpy(&length, saved.data(), sizeof length);
  if (length < 0 || length > options_.context) {
    return invalid_argument("a saved sequence of " + std::to_string(saved.size()) + " bytes and " +
                            std::to_string(length) + " tokens for a context of " + std::to_string(options_.context));
  }
  SOFFIT_CHECK(state_->load(sequence, saved.subspan(sizeof length)));
  lengths_[size_t(sequence)] = length;
  return {};
}

}  // namespace soffit::model
