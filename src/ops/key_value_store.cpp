#include "ops/key_value_store.hpp"

#include "core/checked.hpp"
#include "core/concat.hpp"

namespace soffit {

Result<KeyValueStore> KeyValueStore::create(const KeyValueLayer& layer, const StateDescription& state) {
  if (layer.heads < 1 || layer.head_dim < 1 || layer.window < 0)
    return invalid_argument(
        concat("state layer of ", layer.heads, " heads of ", layer.head_dim, ", window ", layer.window));
  std::optional<uint64_t> positions = uint64_t(state.context);
  if (layer.window > 0) {
    // The first row of a batch sees window - 1 positions before itself, while its last row is there already.
    const auto ring = checked_add(uint64_t(layer.window), uint64_t(state.batch - 1));
    if (ring) positions = std::min(*positions, *ring);
  }
  positions = checked_align(*positions, uint64_t(kKeyBlock));
  std::optional<uint64_t> bytes = 2 * uint64_t(size_of(state.type));
  for (const auto f : {std::optional(uint64_t(layer.heads)), std::optional(uint64_t(layer.head_dim)),
                       std::optional(uint64_t(state.sequences)), positions})
    if (bytes) bytes = f ? checked_mul(*bytes, *f) : std::nullopt;
  if (!bytes || *bytes > uint64_t(INT64_MAX))
    return invalid_argument(concat("state of ", state.sequences, " x ", state.context, " positions of ", layer.heads,
                                   " heads of ", layer.head_dim, " is too large"));
  KeyValueStore store;
  store.layer_ = layer;
  store.type_ = state.type;
  store.held_ = int64_t(*positions);
  store.bytes_ = *bytes;
  if (layer.window > 0) store.extents_ = std::make_unique<Extent[]>(size_t(state.sequences));
  return store;
}

void KeyValueStore::appended(int64_t sequence, int64_t position) const {
  if (!extents_) return;
  auto& end = extents_[size_t(sequence)].end;
  int64_t now = end.load(std::memory_order_relaxed);
  while (now <= position && !end.compare_exchange_weak(now, position + 1, std::memory_order_relaxed)) {
  }
}

int64_t KeyValueStore::first_held(int64_t sequence) const {
  if (!extents_) return 0;
  const Extent& e = extents_[size_t(sequence)];
  return std::max(e.begin, e.end.load(std::memory_order_relaxed) - held_);
}

Status KeyValueStore::can_cut(int64_t sequence, int64_t length) const {
  const int64_t first = std::max<int64_t>(0, length - layer_.window + 1);
  if (length == 0 || first >= first_held(sequence)) return {};
  return unsupported(concat("sequence ", sequence, " cannot go back to position ", length, ": of a window of ",
                            layer_.window, " the positions before ", first_held(sequence), " have been overwritten"));
}

void KeyValueStore::cut(int64_t sequence, int64_t length) {
  if (extents_) filled(sequence, length == 0 ? 0 : first_held(sequence), length);
}

void KeyValueStore::filled(int64_t sequence, int64_t first, int64_t length) {
  if (!extents_) return;
  extents_[size_t(sequence)].begin = first;
  extents_[size_t(sequence)].end.store(length, std::memory_order_relaxed);
}

}  // namespace soffit
