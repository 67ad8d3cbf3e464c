// Where the rows of a batch stand in a state, and what only a run finds wrong with that: the errors of all backends.
#pragma once

#include "ops/key_value_store.hpp"
#include "soffit/operation.hpp"

namespace soffit {

struct Place {
  int64_t sequence, position;
};
// Of a row; `sequences` and `positions` as operations have them, in memory that the host reaches.
Place place_at(const ArrayView& sequences, const ArrayView& positions, int64_t row);

// The state has such a sequence and position.
Status check_place(const char* operation, const StateDescription& state, const Place& place);
// What attention sees from there, from position `first` on, has not been overwritten.
Status check_held(const KeyValueStore& store, const Place& place, int64_t first);
// The position is the next one of a recurrent layer, which has `seen` so many.
Status check_next(const char* operation, const Place& place, int64_t seen);

// The first position that attention sees with a window; 0: all.
constexpr int64_t first_seen(const Place& place, int64_t window) {
  return window > 0 && place.position >= window ? place.position - window + 1 : 0;
}

}  // namespace soffit
