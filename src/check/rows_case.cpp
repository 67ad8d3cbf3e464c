#include "check/rows_case.hpp"

#include <cmath>
#include <limits>

#include "core/concat.hpp"

namespace soffit::checker {

RowsProblem::RowsProblem(RowsCase c) : case_(c) {
  const FormatInfo& f = info(c.format);
  const auto blocks = size_t(c.cols / f.block_elements), row_bytes = blocks * f.block_bytes;
  Random random(c.seed);
  weights_.resize(row_bytes * size_t(c.rows));
  fill_blocks(c.format, c.blocks, random, weights_);
  std::vector<float> values(static_cast<size_t>(c.cols));
  for (int64_t i = 0; i < c.n; ++i) {
    // The last row first, so that it is always among them.
    ids_.push_back(int32_t(i == 0 ? c.rows - 1 : random.below(c.rows)));
    f.decode(weights_.data() + size_t(ids_.back()) * row_bytes, values.data(), blocks);
    for (float v : values) {
      std::byte element[4];
      store_element(c.y_type, c.scale == 1 ? v : v * c.scale, element);
      expected_.push_back({load_element(c.y_type, element), 0});
    }
  }
}

Subject RowsProblem::subject() const {
  const RowsCase& c = case_;
  Subject s{OperationKind::get_rows,
            c.format,
            c.rows,
            c.cols,
            c.n,
            concat(c.layout == Layout::file ? "file" : "automatic", " layout")};
  if (c.blocks != Blocks::random) s.variant += concat(", blocks of ", to_string(c.blocks));
  if (c.y_type != DataType::f32) s.variant += concat(", y ", to_string(c.y_type));
  if (c.y_gap) s.variant += concat(", gap ", c.y_gap);
  if (c.scale != 1) s.variant += ", scaled";
  return s;
}

Result<Outcome> RowsProblem::attempt(Backend& backend, Placement& placement) const {
  const RowsCase& c = case_;
  const Support support = backend.supports(OperationKind::get_rows, c.format, {c.rows, c.cols, c.n, 1});
  if (!support) return Outcome::skip(support.reason);
  const MatrixDescription descriptions[] = {{c.format, c.rows, c.cols, 1}};
  SOFFIT_TRY(const auto weights, backend.new_weights(descriptions, c.layout));
  SOFFIT_CHECK(placement.fill(*weights, 0, {weights_}));
  SOFFIT_CHECK(weights->finish());
  SOFFIT_TRY(const auto ids, InputArray::create(backend, placement, ids_, 1, c.n));
  SOFFIT_TRY(const auto y, ResultArray::create(backend, placement, {c.y_type, c.n, c.cols, c.y_gap}));
  const Operation operations[] = {GetRows{weights.get(), ids.view(), y.view(), c.scale}};
  SOFFIT_TRY(const auto plan, backend.plan(operations, {}));
  SOFFIT_CHECK(plan->run());
  // Rounding to y's type is part of the expected values, so nothing is left to it.
  SOFFIT_TRY(const auto results, y.read());
  Outcome outcome{Verdict::passed, 0, support.kernel, {}};
  for (size_t i = 0; i < results.size() && outcome.verdict == Verdict::passed; ++i)
    if (!(results[i] == expected_[i].exact) || std::signbit(results[i]) != std::signbit(expected_[i].exact)) {
      outcome = Outcome::failure(concat("row ", i / size_t(c.cols), ", column ", i % size_t(c.cols), ": ",
                                        std::to_string(results[i]), ", expected ", std::to_string(expected_[i].exact)));
      outcome.error_over_bound = std::numeric_limits<double>::infinity();
      outcome.kernel = support.kernel;
    }
  return outcome;
}

Outcome RowsProblem::run(Backend& backend, Placement& placement) const {
  auto outcome = attempt(backend, placement);
  return outcome ? *std::move(outcome) : Outcome::failure(outcome.error().message);
}

}  // namespace soffit::checker
