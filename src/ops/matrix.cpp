#include "soffit/matrix.hpp"

#include "core/checked.hpp"
#include "core/concat.hpp"

namespace soffit {
namespace {

std::string describe(const MatrixDescription& m) {
  return concat(m.experts, " x ", m.rows, " x ", m.cols, " ", info(m.format).name);
}

// One past the last byte of the last row, strides as numbers; nullopt when it does not fit 63 bits.
std::optional<uint64_t> end_of(const MatrixDescription& m, uint64_t row, uint64_t row_stride, uint64_t expert_stride) {
  if (m.rows == 0 || m.experts == 0) return 0;
  const auto experts = checked_mul(uint64_t(m.experts - 1), expert_stride);
  const auto rows = checked_mul(uint64_t(m.rows - 1), row_stride);
  const auto before = experts && rows ? checked_add(*experts, *rows) : std::nullopt;
  const auto end = before ? checked_add(*before, row) : std::nullopt;
  return end && *end <= uint64_t(INT64_MAX) ? end : std::nullopt;
}

Status check_range(const char* what, int64_t first, int64_t count, int64_t all) {
  if (first >= 0 && count >= 0 && first <= all && count <= all - first) return {};
  return invalid_argument(concat("shard of ", what, " ", first, " + ", count, " of ", all));
}

// A piece that begins at a byte of the whole's source.
Result<MatrixShard> piece(const MatrixDescription& matrix, const MatrixSource& whole, uint64_t offset) {
  SOFFIT_TRY(const int64_t row, row_bytes(matrix.format, matrix.cols));
  const auto end = end_of(matrix, uint64_t(row), whole.row_stride, whole.expert_stride);
  if (!end || *end == 0) return MatrixShard{matrix, {{}, whole.row_stride, whole.expert_stride}};
  return MatrixShard{matrix, {whole.bytes.subspan(offset, *end), whole.row_stride, whole.expert_stride}};
}

}  // namespace

Result<uint64_t> matrix_bytes(const MatrixDescription& m) {
  SOFFIT_TRY(const int64_t row, row_bytes(m.format, m.cols));
  if (m.rows < 0 || m.experts < 0)
    return invalid_argument(concat("matrix of ", m.rows, " rows and ", m.experts, " experts"));
  const auto one = checked_mul(uint64_t(row), uint64_t(m.rows));
  const auto all = one ? checked_mul(*one, uint64_t(m.experts)) : std::nullopt;
  if (!all || *all > uint64_t(INT64_MAX))
    return invalid_argument(concat("matrix of ", m.experts, " x ", m.rows, " x ", m.cols, " is too large"));
  return *all;
}

Result<MatrixSource> resolve(const MatrixDescription& m, const MatrixSource& source) {
  SOFFIT_TRY(const uint64_t bytes, matrix_bytes(m));
  const auto row = uint64_t(*row_bytes(m.format, m.cols));
  MatrixSource s = source;
  if (s.row_stride == 0) s.row_stride = row;
  const auto expert = checked_mul(s.row_stride, uint64_t(m.rows));
  if (s.expert_stride == 0) {
    if (!expert && m.experts > 1) return invalid_argument(concat("row stride ", s.row_stride, " is too large"));
    s.expert_stride = expert.value_or(0);
  }
  if (s.row_stride < row)
    return invalid_argument(concat("row stride ", s.row_stride, " is less than the ", row, " bytes of a row"));
  if (m.experts > 1 && m.rows > 0 && s.expert_stride < row)
    return invalid_argument(concat("expert stride ", s.expert_stride, " is less than the ", row, " bytes of a row"));
  if (s.row_stride == row && (m.experts <= 1 || s.expert_stride == expert)) {
    if (s.bytes.size() == bytes) return s;
    return invalid_argument(concat(s.bytes.size(), " bytes for a matrix ", describe(m), ", which has ", bytes));
  }
  const auto end = end_of(m, row, s.row_stride, s.expert_stride);
  if (!end || *end > s.bytes.size())
    return invalid_argument(concat("matrix ", describe(m), " with strides of ", s.row_stride, " and ", s.expert_stride,
                                   " bytes ", end ? concat("ends at byte ", *end) : std::string("is too large"), " of ",
                                   s.bytes.size()));
  return s;
}

Result<MatrixShard> row_shard(const MatrixDescription& whole, const MatrixSource& source, int64_t first,
                              int64_t count) {
  SOFFIT_TRY(const MatrixSource s, resolve(whole, source));
  SOFFIT_CHECK(check_range("rows", first, count, whole.rows));
  return piece({whole.format, count, whole.cols, whole.experts}, s, uint64_t(first) * s.row_stride);
}

Result<MatrixShard> column_shard(const MatrixDescription& whole, const MatrixSource& source, int64_t first,
                                 int64_t count) {
  SOFFIT_TRY(const MatrixSource s, resolve(whole, source));
  SOFFIT_CHECK(check_range("columns", first, count, whole.cols));
  const FormatInfo& f = info(whole.format);
  if (first % f.block_elements != 0 || count % f.block_elements != 0)
    return invalid_argument(
        concat("shard of columns ", first, " + ", count, ": no whole blocks of ", f.block_elements, " (", f.name, ")"));
  return piece({whole.format, whole.rows, count, whole.experts}, s, uint64_t(first / f.block_elements) * f.block_bytes);
}

Result<MatrixShard> expert_shard(const MatrixDescription& whole, const MatrixSource& source, int64_t first,
                                 int64_t count) {
  SOFFIT_TRY(const MatrixSource s, resolve(whole, source));
  SOFFIT_CHECK(check_range("experts", first, count, whole.experts));
  return piece({whole.format, whole.rows, whole.cols, count}, s, uint64_t(first) * s.expert_stride);
}

}  // namespace soffit
