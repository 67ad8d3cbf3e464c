#include "plain_backend.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "plain_operations.hpp"

namespace soffit::test {
namespace {

class PlainPlan final : public Plan {
 public:
  explicit PlainPlan(std::vector<Operation> operations) : operations_(std::move(operations)) {}
  Status run() override {
    for (const Operation& operation : operations_) SOFFIT_CHECK(compute(operation));
    return {};
  }
  PlanStatistics statistics() const override { return {int64_t(operations_.size()), 0, 0, 0}; }

 private:
  std::vector<Operation> operations_;
};

class PlainBackend final : public Backend {
 public:
  explicit PlainBackend(PlainBackendOptions options) : options_(options) {}
  std::string_view name() const override { return "plain"; }
  std::string_view isa() const override { return "scalar"; }
  int threads() const override { return 1; }
  Support supports(OperationKind, Format, const Shape&) const override { return {"plain", ""}; }

  Result<std::unique_ptr<Buffer>> new_buffer(uint64_t size) override {
    return std::unique_ptr<Buffer>(new PlainBuffer(size));
  }
  Result<std::unique_ptr<Buffer>> wrap(void*, uint64_t, std::shared_ptr<const void>) override {
    return unsupported("the plain backend wraps no memory");
  }
  Result<std::unique_ptr<Weights>> new_weights(std::span<const MatrixDescription> parts, Layout layout) override {
    auto weights = std::make_unique<PlainWeights>();
    weights->descriptions.assign(parts.begin(), parts.end());
    for (const MatrixDescription& part : parts) {
      SOFFIT_TRY(const uint64_t bytes, matrix_bytes(part));
      weights->bytes.emplace_back();
      weights->sizes.push_back(bytes);
      weights->names.push_back(std::string(info(part.format).name) +
                               (options_.repacks && layout == Layout::automatic ? "_plain" : ""));
    }
    return std::unique_ptr<Weights>(std::move(weights));
  }
  Result<std::unique_ptr<Activations>> new_activations(int64_t max_rows, int64_t cols,
                                                       std::span<const Weights* const>) override {
    return std::unique_ptr<Activations>(new PlainActivations(max_rows, cols));
  }
  Result<std::unique_ptr<State>> new_state(const StateDescription& description) override {
    for (const auto& layer : description.layers)
      if (!std::holds_alternative<KeyValueLayer>(layer))
        return unsupported("the plain backend has no recurrent layers");
    return std::unique_ptr<State>(new PlainState(description));
  }
  Result<std::unique_ptr<Plan>> plan(std::span<const Operation> operations, const PlanOptions&) override {
    for (const Operation& operation : operations) SOFFIT_CHECK(check(operation));
    return std::unique_ptr<Plan>(new PlainPlan(std::vector<Operation>(operations.begin(), operations.end())));
  }

 private:
  PlainBackendOptions options_;
};

}  // namespace

std::unique_ptr<Backend> make_plain_backend(PlainBackendOptions options) {
  return std::make_unique<PlainBackend>(options);
}

Status PlainBuffer::write(uint64_t offset, std::span<const std::byte> from) {
  if (offset > bytes_.size() || from.size() > bytes_.size() - offset) return invalid_argument("write outside a buffer");
  std::memcpy(bytes_.data() + offset, from.data(), from.size());
  return {};
}
Status PlainBuffer::read(uint64_t offset, std::span<std::byte> to) const {
  if (offset > bytes_.size() || to.size() > bytes_.size() - offset) return invalid_argument("read outside a buffer");
  std::memcpy(to.data(), bytes_.data() + offset, to.size());
  return {};
}

Status PlainWeights::write(size_t part, uint64_t offset, std::span<const std::byte> from) {
  if (offset != bytes[part].size()) return invalid_argument("weights written out of order");
  if (from.size() > sizes[part] - offset) return invalid_argument("more bytes than the matrix has");
  bytes[part].insert(bytes[part].end(), from.begin(), from.end());
  return {};
}
Status PlainWeights::adopt(size_t part, const MatrixSource& source, std::shared_ptr<const void>) {
  adopted = true;
  const MatrixDescription& matrix = descriptions[part];
  SOFFIT_TRY(const MatrixSource from, resolve(matrix, source));
  const uint64_t row = sizes[part] / uint64_t(matrix.rows * matrix.experts);
  for (int64_t i = 0; i < matrix.rows * matrix.experts; i++) {
    const uint64_t at = uint64_t(i / matrix.rows) * from.expert_stride + uint64_t(i % matrix.rows) * from.row_stride;
    SOFFIT_CHECK(write(part, uint64_t(i) * row, from.bytes.subspan(at, row)));
  }
  return {};
}
Status PlainWeights::finish() {
  for (size_t i = 0; i < sizes.size(); i++) {
    if (bytes[i].size() != sizes[i]) return invalid_argument("part " + std::to_string(i) + " lacks bytes");
  }
  return {};
}
Status PlainWeights::read(size_t part, uint64_t offset, std::span<std::byte> to) const {
  std::memcpy(to.data(), bytes[part].data() + offset, to.size());
  return {};
}
uint64_t PlainWeights::file_bytes() const {
  uint64_t sum = 0;
  for (const uint64_t size : sizes) sum += size;
  return sum;
}

std::vector<float> PlainWeights::row(int64_t expert, int64_t row) const {
  size_t part = 0;
  while (row >= descriptions[part].rows) row -= descriptions[part++].rows;
  const MatrixDescription& matrix = descriptions[part];
  const FormatInfo& format = info(matrix.format);
  const size_t blocks = size_t(matrix.cols) / format.block_elements, row_size = blocks * format.block_bytes;
  std::vector<float> values(size_t(matrix.cols));
  format.decode(bytes[part].data() + size_t(expert * matrix.rows + row) * row_size, values.data(), blocks);
  return values;
}

PlainState::PlainState(const StateDescription& description) : description_(description) {
  for (const auto& any : description.layers) {
    const auto& layer = std::get<KeyValueLayer>(any);
    const size_t size = size_t(description.sequences * description.context * layer.heads * layer.head_dim);
    keys.emplace_back(size, 0.0f);
    values.emplace_back(size, 0.0f);
  }
}

size_t PlainState::index(int64_t layer, int64_t sequence, int64_t position) const {
  const auto& shape = std::get<KeyValueLayer>(description_.layers[size_t(layer)]);
  return size_t((sequence * description_.context + position) * shape.heads * shape.head_dim);
}

uint64_t PlainState::size_bytes() const {
  uint64_t bytes = 0;
  for (const auto& layer : keys) bytes += 2 * layer.size() * sizeof(float);
  return bytes;
}

Status PlainState::truncate(int64_t, int64_t) { return {}; }

Status PlainState::copy(int64_t from, int64_t to, int64_t length) {
  SOFFIT_TRY(const auto saved, save(from, length));
  return load(to, saved);
}

Result<std::vector<std::byte>> PlainState::save(int64_t sequence, int64_t length) const {
  std::vector<std::byte> saved;
  for (const auto* rows : {&keys, &values}) {
    for (size_t layer = 0; layer < rows->size(); layer++) {
      const size_t begin = index(int64_t(layer), sequence, 0), size = index(int64_t(layer), 0, length);
      const auto bytes = std::as_bytes(std::span((*rows)[layer]).subspan(begin, size));
      saved.insert(saved.end(), bytes.begin(), bytes.end());
    }
  }
  return saved;
}

Status PlainState::load(int64_t sequence, std::span<const std::byte> saved) {
  const size_t position_bytes = size_bytes() / size_t(description_.sequences * description_.context);
  if (saved.size() % position_bytes != 0) return invalid_argument("not a saved sequence of this state");
  const auto length = int64_t(saved.size() / position_bytes);
  for (auto* rows : {&keys, &values}) {
    for (size_t layer = 0; layer < rows->size(); layer++) {
      const size_t size = index(int64_t(layer), 0, length) * sizeof(float);
      std::memcpy((*rows)[layer].data() + index(int64_t(layer), sequence, 0), saved.data(), size);
      saved = saved.subspan(size);
    }
  }
  return {};
}

}  // namespace soffit::test
