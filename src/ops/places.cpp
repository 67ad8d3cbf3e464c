#include "ops/places.hpp"

#include "core/concat.hpp"
#include "ops/host_rows.hpp"

namespace soffit {

Place place_at(const ArrayView& sequences, const ArrayView& positions, int64_t row) {
  return {row_of<int32_t>(sequences, 0)[row], row_of<int32_t>(positions, 0)[row]};
}

Status check_place(const char* operation, const StateDescription& d, const Place& at) {
  if (at.sequence >= 0 && at.sequence < d.sequences && at.position >= 0 && at.position < d.context) return {};
  return invalid_argument(concat(operation, ": sequence ", at.sequence, " of ", d.sequences, ", position ", at.position,
                                 " of ", d.context));
}

Status check_held(const KeyValueStore& store, const Place& at, int64_t first) {
  const int64_t held = store.first_held(at.sequence);
  if (first >= held) return {};
  return invalid_argument(concat("attention: position ", at.position, " of sequence ", at.sequence, " sees ", first,
                                 ", the state holds it from ", held, " on"));
}

Status check_next(const char* operation, const Place& at, int64_t seen) {
  if (at.position == seen) return {};
  return invalid_argument(
      concat(operation, ": a row at position ", at.position, " of sequence ", at.sequence, ", whose next is ", seen));
}

}  // namespace soffit
