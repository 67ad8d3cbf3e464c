#include "check/recurrent_rows.hpp"

namespace soffit::checker {

Batches recurrent_batches(bool quick) {
  Batches batches(1);
  for (int32_t i = 0; i < (quick ? 9 : 70); ++i) batches[0].push_back({0, i});
  const auto next = int32_t(batches[0].size());
  batches.push_back({{0, next}});
  batches.push_back({{1, 0}, {0, next + 1}, {1, 1}, {1, 2}, {0, next + 2}});
  batches.push_back({{2, 0}});
  batches.push_back({{1, 3}, {2, 1}, {0, next + 3}});
  return batches;
}

Result<PlacedRows> place_rows(Backend& backend, Placement& placement, const std::vector<Place>& places) {
  std::vector<int32_t> sequences, positions;
  for (const Place& p : places) sequences.push_back(p.sequence), positions.push_back(p.position);
  const auto n = int64_t(places.size());
  SOFFIT_TRY(InputArray s, InputArray::create(backend, placement, sequences, 1, n));
  SOFFIT_TRY(InputArray p, InputArray::create(backend, placement, positions, 1, n));
  return PlacedRows{std::move(s), std::move(p)};
}

Result<std::unique_ptr<State>> recurrent_state(Backend& backend, const RecurrentLayer& layer) {
  StateDescription d;
  d.layers = {RecurrentLayer{3, 2, 1, 2, 2}, KeyValueLayer{1, 8}, layer};
  d.sequences = kSequences, d.context = 100;
  return backend.new_state(d);
}

}  // namespace soffit::checker
