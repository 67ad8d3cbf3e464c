#include "check/linear_case.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "check/decoded.hpp"
#include "core/concat.hpp"

namespace soffit::checker {
namespace {

const char* to_string(Layout layout) { return layout == Layout::file ? "file" : "automatic"; }
const char* to_string(Ids ids) { return ids == Ids::random ? "random" : ids == Ids::repeated ? "repeated" : "same"; }

void fill_ids(Ids kind, int64_t experts, int64_t used, Random& random, std::vector<int32_t>& ids) {
  std::vector<int32_t> order(static_cast<size_t>(experts));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto j = int64_t(i) % used;
    if (kind == Ids::random) {
      std::swap(order[size_t(j)], order[size_t(j + random.below(experts - j))]);
      ids[i] = order[size_t(j)];
    } else {
      ids[i] = kind == Ids::same ? int32_t(experts - 1) : int32_t(random.below(experts));
    }
  }
}

std::vector<float> normal_values(size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& v : values) v = random.normal();
  return values;
}

}  // namespace

LinearProblem::LinearProblem(LinearCase c) : case_(std::move(c)) {
  Random random(case_.seed);
  const int64_t experts = std::max<int64_t>(1, case_.experts);
  for (size_t p = 0; p < case_.parts.size(); ++p) {
    weights_.emplace_back(size_t(row_bytes(p) * case_.parts[p].rows * experts));
    fill_blocks(case_.parts[p].format, case_.blocks, random, weights_.back());
  }
  if (case_.experts) {
    ids_.resize(size_t(case_.n * case_.used));
    fill_ids(case_.ids, case_.experts, case_.used, random, ids_);
    for (size_t s = 0; s < ids_.size(); ++s)
      slots_.push_back({ids_[s], case_.per_slot ? int64_t(s) : int64_t(s) / case_.used});
  } else {
    for (int64_t i = 0; i < case_.n; ++i) slots_.push_back({0, i});
  }
  x_rows_ = case_.experts && case_.per_slot ? case_.n * case_.used : case_.n;
  x_.resize(size_t(x_rows_ * case_.cols));
  for (int64_t i = 0; i < x_rows_; ++i) {
    const std::span x(x_.data() + i * case_.cols, size_t(case_.cols));
    // Aimed at another row for each row of x, of an expert that reads it.
    const auto slot = std::ranges::find(slots_, i, &Slot::x_row);
    const auto& part = case_.parts[0];
    const auto w = decode_row(part.format, row(0, slot == slots_.end() ? 0 : slot->expert, i % part.rows));
    fill_values(case_.values, random, w.weight, x);
    for (float& v : x) {
      std::byte element[4];
      store_element(case_.x_type, v, element);
      v = float(load_element(case_.x_type, element));
    }
  }
  if (case_.bias) bias_ = normal_values(size_t(matrix_rows()), random);
  if (case_.residual != Residual::none) residual_ = normal_values(slots_.size() * size_t(result_rows()), random);
}

int64_t LinearProblem::matrix_rows() const {
  int64_t rows = 0;
  for (const auto& part : case_.parts) rows += part.rows;
  return rows;
}

int64_t LinearProblem::row_bytes(size_t part) const {
  const FormatInfo& f = info(case_.parts[part].format);
  assert(case_.cols % f.block_elements == 0);
  return case_.cols / f.block_elements * f.block_bytes;
}

std::span<const std::byte> LinearProblem::row(size_t part, int64_t expert, int64_t row) const {
  const auto bytes = size_t(row_bytes(part));
  return std::span(weights_[part]).subspan(size_t(expert * case_.parts[part].rows + row) * bytes, bytes);
}

Subject LinearProblem::subject() const {
  const LinearCase& c = case_;
  Subject s{c.experts ? OperationKind::linear_id : OperationKind::linear,
            c.parts[0].format,
            c.parts[0].rows,
            c.cols,
            c.n,
            concat(to_string(c.layout), " layout, ", checker::to_string(c.values), " x")};
  const auto also = [&](bool is, const auto&... text) {
    if (is) s.variant += concat(", ", text...);
  };
  for (size_t p = 1; p < c.parts.size(); ++p)
    also(true, "part ", info(c.parts[p].format).name, " of ", c.parts[p].rows, " rows");
  also(c.experts > 0, c.used, " of ", c.experts, " experts, ", to_string(c.ids), " ids");
  also(c.per_slot, "x per slot");
  also(c.blocks != Blocks::random, "blocks of ", checker::to_string(c.blocks));
  also(c.x_type != DataType::f32, "x ", soffit::to_string(c.x_type));
  also(c.y_type != DataType::f32, "y ", soffit::to_string(c.y_type));
  also(c.x_gap || c.y_gap, "gaps ", c.x_gap, " and ", c.y_gap);
  also(c.scale != 1, "scaled");
  also(c.bias, "bias");
  also(c.gate != Activation::none, c.gate == Activation::silu ? "silu" : "gelu_tanh");
  also(c.residual != Residual::none, c.residual == Residual::in_place ? "residual in place" : "residual");
  return s;
}

struct LinearProblem::Arrays {
  std::optional<InputArray> x, ids, bias, residual;
  std::optional<ResultArray> y;
};

Result<std::unique_ptr<Weights>> LinearProblem::upload(Backend& backend, Placement& placement) const {
  std::vector<MatrixDescription> descriptions;
  for (const auto& part : case_.parts)
    descriptions.push_back({part.format, part.rows, case_.cols, std::max<int64_t>(1, case_.experts)});
  SOFFIT_TRY(auto weights, backend.new_weights(descriptions, case_.layout));
  for (size_t p = 0; p < case_.parts.size(); ++p) SOFFIT_CHECK(placement.fill(*weights, p, {weights_[p]}));
  SOFFIT_CHECK(weights->finish());
  return weights;
}

Operation LinearProblem::operation(const Weights& weights, const Activations& x, const Arrays& arrays) const {
  Epilogue epilogue;
  epilogue.scale = case_.scale;
  epilogue.gate = case_.gate;
  if (arrays.bias) epilogue.bias = arrays.bias->view();
  if (arrays.residual) epilogue.residual = arrays.residual->view();
  if (case_.residual == Residual::in_place) epilogue.residual = arrays.y->view();
  if (case_.experts) return LinearId{&weights, &x, arrays.ids->view(), case_.per_slot, arrays.y->view(), epilogue};
  return Linear{&weights, &x, arrays.y->view(), epilogue};
}

Result<Outcome> LinearProblem::attempt(Backend& backend, Placement& placement) {
  const OperationKind kind = subject().operation;
  std::vector<Arithmetic> arithmetic;
  std::string kernel;
  for (const auto& part : case_.parts) {
    const Support support =
        backend.supports(kind, part.format, {part.rows, case_.cols, case_.n, std::max<int64_t>(1, case_.experts)});
    if (!support) return Outcome::skip(support.reason);
    kernel += (kernel.empty() ? "" : ", ") + support.kernel;
    arithmetic.push_back({support.activation_block, support.code_offset});
  }
  SOFFIT_TRY(const auto weights, upload(backend, placement));
  Arrays a;
  SOFFIT_TRY(a.x, InputArray::create(backend, placement, {case_.x_type, x_rows_, case_.cols, case_.x_gap}, x_));
  const ArrayShape shape{case_.y_type, int64_t(slots_.size()), result_rows(), case_.y_gap};
  SOFFIT_TRY(a.y, ResultArray::create(backend, placement, shape));
  if (case_.experts) {
    SOFFIT_TRY(a.ids, InputArray::create(backend, placement, ids_, case_.n, case_.used));
  }
  if (case_.bias) {
    SOFFIT_TRY(a.bias, InputArray::create(backend, placement, {DataType::f32, 1, matrix_rows(), 0}, bias_));
  }
  if (case_.residual == Residual::separate) {
    const ArrayShape spaced{DataType::f32, shape.rows, shape.cols, 3};
    SOFFIT_TRY(a.residual, InputArray::create(backend, placement, spaced, residual_));
  }
  if (case_.residual == Residual::in_place) SOFFIT_CHECK(a.y->set(residual_));
  const Weights* readers[] = {weights.get()};
  SOFFIT_TRY(const auto x, backend.new_activations(x_rows_, case_.cols, readers));
  const Operation operations[] = {Prepare{a.x->view(), x.get()}, operation(*weights, *x, a)};
  SOFFIT_TRY(const auto plan, backend.plan(operations, {}));
  SOFFIT_CHECK(plan->run());
  Outcome outcome = a.y->compare(expected(arithmetic));
  outcome.kernel = kernel;
  return outcome;
}

Outcome LinearProblem::run(Backend& backend, Placement& placement) {
  auto outcome = attempt(backend, placement);
  return outcome ? *std::move(outcome) : Outcome::failure(outcome.error().message);
}

}  // namespace soffit::checker
