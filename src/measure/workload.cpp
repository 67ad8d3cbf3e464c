#include "measure/workload.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "check/random.hpp"
#include "core/concat.hpp"
#include "core/half.hpp"

namespace soffit::measure {
namespace {

constexpr int64_t kMostOperations = 65536;  // of a rotation: each is a step of a plan

// The first `count` of a random order of 0 … size - 1.
std::vector<int32_t> random_order(int64_t size, int64_t count, checker::Random& random) {
  std::vector<int32_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i < count; ++i) std::swap(order[size_t(i)], order[size_t(i + random.below(size - i))]);
  order.resize(size_t(count));
  return order;
}

// The experts of n tokens as a router would choose them, `used` different ones each, renumbered 0, 1, 2… in ascending
// order.
std::vector<int32_t> random_routes(int64_t n, int64_t used, int64_t experts, checker::Random& random) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < n; ++i) {
    const auto chosen = random_order(experts, used, random);
    ids.insert(ids.end(), chosen.begin(), chosen.end());
  }
  const std::set<int32_t> distinct(ids.begin(), ids.end());
  for (int32_t& id : ids) id = int32_t(std::distance(distinct.begin(), distinct.find(id)));
  return ids;
}

Status check_case(const KernelCase& c) {
  if (c.n < 1 || c.n > 1 << 20) return invalid_argument(concat("n = ", c.n, "; 1 to 1048576 are possible"));
  if (c.operation == OperationKind::linear_id && (c.used < 1 || c.used > c.matrix.experts))
    return invalid_argument(concat(c.used, " experts used of ", c.matrix.experts));
  if (c.operation != OperationKind::linear_id && c.matrix.experts != 1)
    return invalid_argument(concat(to_string(c.operation), " of ", c.matrix.experts, " experts"));
  if (c.operation == OperationKind::get_rows && c.n > c.matrix.rows)
    return invalid_argument(concat("get_rows of ", c.n, " different rows of ", c.matrix.rows));
  if (c.activations != DataType::f32 && c.activations != DataType::f16)
    return invalid_argument(concat("activations of type ", to_string(c.activations), "; f32 and f16 are possible"));
  return {};
}

}  // namespace

Result<Workload> Workload::create(Backend& backend, const Roof& roof, const RotatingWeights& weights,
                                  const KernelCase& kernel_case, uint64_t seed) {
  SOFFIT_CHECK(check_case(kernel_case));
  Workload w;
  w.backend_ = &backend;
  w.roof_ = &roof;
  w.weights_ = &weights;
  w.case_ = kernel_case;
  SOFFIT_CHECK(w.make_inputs(seed));
  return w;
}

double Workload::flops() const {
  if (case_.operation == OperationKind::get_rows) return 0;
  return 2.0 * double(case_.matrix.rows) * double(case_.matrix.cols) * double(case_.result_rows());
}

uint64_t Workload::rotated_bytes() const { return uint64_t(legs()) * uint64_t(operations_) * file_bytes_; }

std::span<const int32_t> Workload::ids(int64_t variant) const {
  const size_t count = ids_values_.size() / size_t(variants_);
  return std::span(ids_values_).subspan(size_t(variant) * count, count);
}

Status Workload::make_inputs(uint64_t seed) {
  checker::Random random(seed);
  const MatrixDescription& m = case_.matrix;
  const Weights& first = *weights_->copies().front();
  const double layout_factor = double(first.layout_bytes()) / double(first.file_bytes());
  uint64_t share = uint64_t(m.experts), all = uint64_t(m.experts);  // of the matrix that an operation reads
  if (case_.operation == OperationKind::linear_id) {
    const auto routes = random_routes(case_.n, case_.used, m.experts, random);
    experts_read_ = *std::ranges::max_element(routes) + 1;
    variants_ = m.experts / experts_read_;
    for (int64_t v = 0; v < variants_; ++v)
      for (const int32_t id : routes) ids_values_.push_back(int32_t(v * experts_read_) + id);
    share = uint64_t(experts_read_);
  } else if (case_.operation == OperationKind::get_rows) {
    const int64_t copies = int64_t(weights_->copies().size());
    variants_ = std::clamp<int64_t>(kMostOperations / copies, 1, m.rows / case_.n);
    ids_values_ = random_order(m.rows, variants_ * case_.n, random);
    share = uint64_t(case_.n), all = uint64_t(m.rows);
  }
  file_bytes_ = first.file_bytes() / all * share;
  layout_bytes_ = uint64_t(double(file_bytes_) * layout_factor);
  if (!ids_values_.empty()) {
    SOFFIT_TRY(ids_, backend_->new_buffer(ids_values_.size() * sizeof(int32_t)));
    SOFFIT_CHECK(ids_->write(0, std::as_bytes(std::span(ids_values_))));
  }
  if (case_.operation == OperationKind::get_rows) return {};
  std::vector<uint16_t> halves;
  for (int64_t i = 0; i < case_.n * m.cols; ++i) {
    const float value = random.normal();
    halves.push_back(float_to_half(value));
    x_values_.push_back(case_.activations == DataType::f16 ? half_to_float(halves.back()) : value);
  }
  const auto bytes = case_.activations == DataType::f16 ? std::as_bytes(std::span(halves))
                                                        : std::as_bytes(std::span(std::as_const(x_values_)));
  SOFFIT_TRY(x_, backend_->new_buffer(bytes.size()));
  return x_->write(0, bytes);
}

Status Workload::make_outputs(int64_t operations) {
  const auto results = uint64_t(case_.result_rows() * case_.result_cols());
  SOFFIT_TRY(y_, backend_->new_buffer(uint64_t(operations) * results * sizeof(float)));
  prepared_.clear();
  if (case_.operation == OperationKind::get_rows) return {};
  const Weights* reader = weights_->copies().front().get();
  for (int64_t i = 0; i < operations; ++i) {
    SOFFIT_TRY(auto activations, backend_->new_activations(case_.n, case_.matrix.cols, {&reader, 1}));
    prepared_.push_back(std::move(activations));
  }
  return {};
}

Status Workload::add_regions(int64_t operation, std::vector<Bytes>& regions) const {
  const Weights& weights = *weights_->copies()[size_t(operation / variants_)];
  const int64_t variant = operation % variants_;
  if (case_.operation == OperationKind::get_rows) {
    for (const int32_t row : ids(variant)) {
      SOFFIT_TRY(const Bytes bytes, roof_->memory(weights, 0, 0, row, 1));
      regions.push_back(bytes);
    }
    return {};
  }
  for (int64_t expert = 0; expert < experts_read_; ++expert) {
    SOFFIT_TRY(const Bytes bytes, roof_->memory(weights, 0, variant * experts_read_ + expert, 0, case_.matrix.rows));
    regions.push_back(bytes);
  }
  return {};
}

Result<Workload::Leg> Workload::make_leg(int64_t first) const {
  Leg leg;
  leg.first = first;
  std::vector<Operation> operations;
  const int64_t rows = case_.result_rows(), cols = case_.result_cols();
  for (int64_t i = 0; i < operations_; ++i) {
    const Weights* weights = weights_->copies()[size_t((first + i) / variants_)].get();
    ArrayView y = view(*y_, DataType::f32, rows, cols);
    y.offset = uint64_t(i * rows * cols) * sizeof(float);
    ArrayView ids;
    if (ids_) {
      const bool routed = case_.operation == OperationKind::linear_id;
      ids = view(*ids_, DataType::i32, routed ? case_.n : 1, routed ? case_.used : case_.n);
      ids.offset = uint64_t((first + i) % variants_ * ids.rows * ids.cols) * sizeof(int32_t);
    }
    if (case_.operation == OperationKind::get_rows) {
      operations.push_back(GetRows{.weights = weights, .ids = ids, .y = y});
    } else {
      Activations* x = prepared_[size_t(i)].get();
      operations.push_back(Prepare{view(*x_, case_.activations, case_.n, case_.matrix.cols), x});
      if (case_.operation == OperationKind::linear)
        operations.push_back(Linear{.weights = weights, .x = x, .y = y, .epilogue = {}});
      else
        operations.push_back(LinearId{.weights = weights, .x = x, .ids = ids, .y = y, .epilogue = {}});
    }
    SOFFIT_CHECK(add_regions(first + i, leg.regions));
  }
  SOFFIT_TRY(leg.plan, backend_->plan(operations, {}));
  return leg;
}

Status Workload::arrange(int64_t operations) {
  legs_.clear();
  const int64_t all = int64_t(weights_->copies().size()) * variants_;
  operations_ = std::clamp<int64_t>(operations, 1, all);
  SOFFIT_CHECK(make_outputs(operations_));
  for (int64_t first = 0; first + operations_ <= all; first += operations_) {
    SOFFIT_TRY(Leg leg, make_leg(first));
    legs_.push_back(std::move(leg));
  }
  return {};
}

Result<std::vector<float>> Workload::results(int64_t operation) const {
  std::vector<float> values(size_t(case_.result_rows() * case_.result_cols()));
  SOFFIT_CHECK(
      y_->read(uint64_t(operation) * values.size() * sizeof(float), std::as_writable_bytes(std::span(values))));
  return values;
}

}  // namespace soffit::measure
