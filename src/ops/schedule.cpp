#include "ops/schedule.hpp"

#include "core/concat.hpp"

namespace soffit {
namespace {

uint64_t bytes(const ArrayView& v) {
  return v.rows == 0 ? 0 : uint64_t(((v.rows - 1) * v.row_stride + v.cols) * size_of(v.type));
}

bool conflict(std::span<const Access> earlier, std::span<const Access> later) {
  for (const auto& a : earlier)
    for (const auto& b : later)
      if ((a.write || b.write) && overlap(a, b)) return true;
  return false;
}

}  // namespace

bool overlap(const Access& a, const Access& b) {
  if (a.object != b.object || a.layer != b.layer) return false;
  if (a.view.empty() || b.view.empty()) return true;
  const ArrayView &x = a.view, &y = b.view;
  if (x.offset + bytes(x) <= y.offset || y.offset + bytes(y) <= x.offset) return false;
  const uint64_t stride = uint64_t(x.row_stride * size_of(x.type));
  if (stride && stride == uint64_t(y.row_stride * size_of(y.type))) {
    const uint64_t xs = x.offset % stride, ys = y.offset % stride;
    const uint64_t xe = xs + uint64_t(x.cols * size_of(x.type)), ye = ys + uint64_t(y.cols * size_of(y.type));
    if (xe <= stride && ye <= stride && (xe <= ys || ye <= xs)) return false;
  }
  return true;
}

Result<bool> Schedule::next(const Operation& operation) {
  SOFFIT_CHECK(check(operation));
  SOFFIT_CHECK(follow_activations(operation));
  const auto accessed = accesses(operation);
  const bool barrier = conflict(since_barrier_, accessed);
  if (barrier) since_barrier_.clear();
  since_barrier_.insert(since_barrier_.end(), accessed.begin(), accessed.end());
  return barrier;
}

Status Schedule::follow_activations(const Operation& operation) {
  if (const auto* o = std::get_if<Linear>(&operation.value)) return read(o->x, o->y.rows);
  if (const auto* o = std::get_if<LinearId>(&operation.value)) return read(o->x, o->per_slot ? o->y.rows : o->ids.rows);
  if (const auto* o = std::get_if<Prepare>(&operation.value)) prepared(o->to, o->x.rows);
  if (const auto* o = std::get_if<RmsNorm>(&operation.value)) prepared(o->prepared, o->x.rows);
  if (const auto* o = std::get_if<GatedActivation>(&operation.value)) prepared(o->prepared, o->gate.rows);
  return {};
}

void Schedule::prepared(const Activations* activations, int64_t rows) {
  if (!activations) return;
  for (auto& [object, n] : rows_)
    if (object == activations) return void(n = rows);
  rows_.emplace_back(activations, rows);
}

Status Schedule::read(const Activations* activations, int64_t rows) const {
  for (const auto& [object, n] : rows_)
    if (object == activations && n != rows)
      return invalid_argument(concat("activations prepared for ", n, " rows are read as ", rows));
  return {};
}

}  // namespace soffit
