// What checks of recurrent operations have in common: batches that a state carries on from one to the next.
#pragma once

#include <algorithm>
#include <vector>

#include "check/checks.hpp"

namespace soffit::checker {

struct Place {
  int32_t sequence, position;
};
using Batches = std::vector<std::vector<Place>>;
inline constexpr int64_t kSequences = 3;

// A prompt, single tokens, two sequences mixed, one that begins later.
Batches recurrent_batches(bool quick);

// The rows' places on the backend.
struct PlacedRows {
  InputArray sequences, positions;
};
Result<PlacedRows> place_rows(Backend& backend, Placement& placement, const std::vector<Place>& places);

// A state whose layer kRecurrentLayer is the one given.
inline constexpr int64_t kRecurrentLayer = 2;
Result<std::unique_ptr<State>> recurrent_state(Backend& backend, const RecurrentLayer& layer);

// Runs a case batch by batch: run(places, state, seed) gives the outcome of one.
template <class Run>
Result<Outcome> run_batches(OperationKind kind, const RecurrentLayer& layer, bool quick, Backend& backend, Run&& run) {
  const Support support = backend.supports(kind, Format::f32, {1, 1, 1, 1});
  if (!support) return Outcome::skip(support.reason);
  SOFFIT_TRY(const auto state, recurrent_state(backend, layer));
  Outcome all{Verdict::passed, 0, support.kernel, {}};
  uint64_t seed = 1000;
  for (const auto& places : recurrent_batches(quick)) {
    SOFFIT_TRY(Outcome outcome, run(places, *state, seed += 10));
    all.error_over_bound = worse(all.error_over_bound, outcome.error_over_bound);
    if (outcome.verdict == Verdict::passed) continue;
    outcome.kernel = support.kernel;
    return outcome;
  }
  return all;
}

}  // namespace soffit::checker
