#include "check/shard_case.hpp"

#include <bit>
#include <utility>

#include "check/product.hpp"
#include "core/concat.hpp"

namespace soffit::checker {

struct ShardProblem::Machine {
  Backend& backend;
  Placement& placement;
};

// Weights of a shard and what a product with them needs.
struct ShardProblem::Piece {
  std::unique_ptr<Weights> weights;
  std::unique_ptr<Activations> x;
  std::optional<InputArray> ids;
  ArrayView from;
};

ShardProblem::ShardProblem(ShardCase c) : case_(c) {
  Random random(c.seed);
  weights_.resize(size_t(*matrix_bytes(whole())));
  fill_blocks(c.format, Blocks::random, random, weights_);
  for (int64_t i = 0; i < c.n * c.cols; ++i) x_.push_back(random.normal());
  for (int64_t i = 0; i < c.n; ++i)
    ids_.push_back(int32_t(i == 0 ? whole().experts - 1 : random.below(whole().experts)));
}

Subject ShardProblem::subject() const {
  const ShardCase& c = case_;
  constexpr const char* kCuts[] = {"rows", "columns", "experts"};
  std::string variant =
      concat(c.layout == Layout::file ? "file" : "automatic", " layout, cut after ", c.at, " ", kCuts[size_t(c.cut)]);
  if (c.experts) variant += concat(" of ", c.experts, " experts");
  return {c.experts ? OperationKind::linear_id : OperationKind::linear, c.format, c.rows, c.cols, c.n, variant};
}

Result<MatrixShard> ShardProblem::half(int which) const {
  const auto part = [&](int64_t all) {
    return which ? std::pair(case_.at, all - case_.at) : std::pair(int64_t(0), case_.at);
  };
  switch (case_.cut) {
    case Cut::rows: {
      const auto [first, count] = part(case_.rows);
      return row_shard(whole(), source(), first, count);
    }
    case Cut::columns: {
      const auto [first, count] = part(case_.cols);
      return column_shard(whole(), source(), first, count);
    }
    default: {
      const auto [first, count] = part(case_.experts);
      return expert_shard(whole(), source(), first, count);
    }
  }
}

// Expert `ids_from` of the whole is the piece's first; rows that want another one than it has take its first.
Result<ShardProblem::Piece> ShardProblem::make_piece(const Machine& m, const MatrixShard& shard, const ArrayView& x,
                                                     int64_t ids_from) const {
  Piece piece;
  SOFFIT_TRY(piece.weights, m.backend.new_weights({&shard.matrix, 1}, case_.layout));
  SOFFIT_CHECK(m.placement.fill(*piece.weights, 0, shard.source));
  SOFFIT_CHECK(piece.weights->finish());
  const Weights* readers[] = {piece.weights.get()};
  SOFFIT_TRY(piece.x, m.backend.new_activations(case_.n, shard.matrix.cols, readers));
  piece.from = x;
  if (!case_.experts) return piece;
  std::vector<int32_t> ids;
  for (int64_t id : ids_) {
    const int64_t mine = id - ids_from;
    ids.push_back(int32_t(mine >= 0 && mine < shard.matrix.experts ? mine : 0));
  }
  SOFFIT_TRY(piece.ids, InputArray::create(m.backend, m.placement, ids, case_.n, 1));
  return piece;
}

Operation ShardProblem::product(const Piece& piece, const ArrayView& y, const ArrayView& residual) const {
  Epilogue epilogue;
  epilogue.residual = residual;
  if (case_.experts) return LinearId{piece.weights.get(), piece.x.get(), piece.ids->view(), false, y, epilogue};
  return Linear{piece.weights.get(), piece.x.get(), y, epilogue};
}

Result<std::vector<Value>> ShardProblem::expected(const Arithmetic& arithmetic) const {
  const int64_t row = *row_bytes(case_.format, case_.cols);
  const auto block = int64_t(info(case_.format).block_elements), block_bytes = int64_t(info(case_.format).block_bytes);
  const int64_t cut = case_.at / block * block_bytes;
  const bool steps = arithmetic.has_offset();
  std::vector<Value> values;
  for (int64_t i = 0; i < case_.n; ++i) {
    const std::span x(x_.data() + i * case_.cols, size_t(case_.cols));
    const ActivationRow left(x.first(size_t(case_.at)), arithmetic.activation_block);
    const ActivationRow right(x.subspan(size_t(case_.at)), arithmetic.activation_block);
    for (int64_t r = 0; r < case_.rows; ++r) {
      const auto bytes =
          std::span(weights_).subspan(size_t((int64_t(ids_[size_t(i)]) * case_.rows + r) * row), size_t(row));
      const Value a =
          checker::product(case_.format, arithmetic, decode_row(case_.format, bytes.first(size_t(cut)), steps), left);
      const Value b = checker::product(case_.format, arithmetic,
                                       decode_row(case_.format, bytes.subspan(size_t(cut)), steps), right);
      // The second product's own rounding, and that of the sum, of which both are parts.
      const Value sum = plus({b.exact, a.bound + b.bound}, a.exact);
      values.push_back(sum);
    }
  }
  return values;
}

// The second shard's product is added to the first's by the epilogue.
Result<Outcome> ShardProblem::check_sum(const Machine& m, const Arithmetic& arithmetic) const {
  SOFFIT_TRY(const auto x, InputArray::create(m.backend, m.placement, {DataType::f32, case_.n, case_.cols, 3}, x_));
  SOFFIT_TRY(const auto y, ResultArray::create(m.backend, m.placement, {DataType::f32, case_.n, case_.rows, 1}));
  SOFFIT_TRY(const MatrixShard first, half(0));
  SOFFIT_TRY(const MatrixShard second, half(1));
  SOFFIT_TRY(const Piece left, make_piece(m, first, x.view().columns(0, case_.at), 0));
  SOFFIT_TRY(const Piece right, make_piece(m, second, x.view().columns(case_.at, case_.cols - case_.at), 0));
  const Operation operations[] = {Prepare{left.from, left.x.get()}, product(left, y.view(), {}),
                                  Prepare{right.from, right.x.get()}, product(right, y.view(), y.view())};
  SOFFIT_TRY(const auto plan, m.backend.plan(operations, {}));
  SOFFIT_CHECK(plan->run());
  SOFFIT_TRY(const auto values, expected(arithmetic));
  return y.compare(values);
}

Result<Outcome> ShardProblem::check_bits(const Machine& m) const {
  SOFFIT_TRY(const auto x, InputArray::create(m.backend, m.placement, {DataType::f32, case_.n, case_.cols, 0}, x_));
  const auto results = [&](const MatrixShard& shard, int64_t ids_from) -> Result<std::vector<double>> {
    SOFFIT_TRY(const auto y,
               ResultArray::create(m.backend, m.placement, {DataType::f32, case_.n, shard.matrix.rows, 1}));
    SOFFIT_TRY(const Piece piece, make_piece(m, shard, x.view(), ids_from));
    const Operation operations[] = {Prepare{piece.from, piece.x.get()}, product(piece, y.view(), {})};
    SOFFIT_TRY(const auto plan, m.backend.plan(operations, {}));
    SOFFIT_CHECK(plan->run());
    return y.read();
  };
  SOFFIT_TRY(const auto all, results({whole(), source()}, 0));
  for (int which : {0, 1}) {
    SOFFIT_TRY(const MatrixShard shard, half(which));
    const int64_t first_row = case_.cut == Cut::rows && which ? case_.at : 0;
    const int64_t first_expert = case_.cut == Cut::experts && which ? case_.at : 0;
    SOFFIT_TRY(const auto part, results(shard, first_expert));
    for (int64_t i = 0; i < case_.n; ++i) {
      const int64_t expert = ids_[size_t(i)] - first_expert;
      if (expert < 0 || expert >= shard.matrix.experts) continue;
      for (int64_t r = 0; r < shard.matrix.rows; ++r) {
        const double here = part[size_t(i * shard.matrix.rows + r)];
        const double there = all[size_t(i * case_.rows + first_row + r)];
        if (std::bit_cast<uint64_t>(here) != std::bit_cast<uint64_t>(there))
          return Outcome::failure(concat("shard ", which, ", row ", i, ", column ", r, ": ", std::to_string(here),
                                         ", the whole gives ", std::to_string(there)));
      }
    }
  }
  return Outcome{Verdict::passed, 0, {}, {}};
}

Result<Outcome> ShardProblem::attempt(Backend& backend, Placement& placement) const {
  const MatrixDescription m = whole();
  const Support support = backend.supports(subject().operation, m.format, {m.rows, m.cols, case_.n, m.experts});
  if (!support) return Outcome::skip(support.reason);
  const Machine machine{backend, placement};
  auto outcome = case_.cut == Cut::columns ? check_sum(machine, {support.activation_block, support.code_offset})
                                           : check_bits(machine);
  if (outcome) outcome->kernel = support.kernel;
  return outcome;
}

Outcome ShardProblem::run(Backend& backend, Placement& placement) const {
  auto outcome = attempt(backend, placement);
  return outcome ? *std::move(outcome) : Outcome::failure(outcome.error().message);
}

}  // namespace soffit::checker
