#include "ops/recurrent_store.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/concat.hpp"

namespace soffit {
namespace {

std::optional<uint64_t> product(std::initializer_list<int64_t> factors) {
  std::optional<uint64_t> all = 1;
  for (int64_t f : factors)
    if (all) all = checked_mul(*all, uint64_t(f));
  return all;
}

}  // namespace

Result<RecurrentStore> RecurrentStore::create(const RecurrentLayer& l, const StateDescription& state) {
  const bool convolution = l.channels > 0 && l.taps > 0, none = l.channels == 0 && l.taps == 0;
  const bool rule = l.heads > 0 && l.key_dim > 0 && l.value_dim > 0;
  const bool no_rule = l.heads == 0 && l.key_dim == 0 && l.value_dim == 0;
  if ((!convolution && !none) || (!rule && !no_rule) || (none && no_rule))
    return invalid_argument(concat("recurrent layer of ", l.channels, " channels, ", l.taps, " taps, ", l.heads,
                                   " heads of ", l.key_dim, " x ", l.value_dim));
  const auto inputs = product({std::max<int64_t>(0, l.taps - 1), l.channels});
  const auto matrices = product({l.heads, l.key_dim, l.value_dim});
  const auto floats = inputs && matrices ? checked_add(*inputs, *matrices) : std::nullopt;
  const auto bytes = floats ? checked_mul(*floats, uint64_t(state.sequences)) : std::nullopt;
  const auto units = product({state.sequences, l.channels / kChannels + 1 + l.heads});
  if (!bytes || *bytes > uint64_t(INT64_MAX) / sizeof(float) || !units || *units > uint64_t(INT32_MAX))
    return invalid_argument(concat("recurrent layer of ", l.channels, " channels, ", l.heads, " heads of ", l.key_dim,
                                   " x ", l.value_dim, " for ", state.sequences, " sequences is too large"));
  RecurrentStore store;
  store.layer_ = l;
  store.bytes_ = *bytes * sizeof(float);
  store.rows_.resize(size_t(state.sequences * store.units()));
  return store;
}

Status RecurrentStore::can_cut(int64_t sequence, int64_t length) const {
  if (length == 0) return {};
  const auto* rows = rows_.data() + sequence * units();
  for (int64_t i = 0; i < units(); ++i)
    if (rows[i] != length)
      return unsupported(concat("the recurrent layer of sequence ", sequence, " is at position ", rows[i],
                                " and keeps no past: it is not at ", length, ", and can only be cleared"));
  return {};
}

void RecurrentStore::filled(int64_t sequence, int64_t length) {
  if (length == 0) std::ranges::fill(all(sequence), 0.0f);
  std::fill_n(rows_.begin() + sequence * units(), units(), length);
}

}  // namespace soffit
