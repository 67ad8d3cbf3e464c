// Keys and values: appending them to a state, and attention over them.
#include <algorithm>
#include <cstring>

#include "core/half.hpp"
#include "cpu/plan.hpp"
#include "cpu/state.hpp"
#include "cpu/views.hpp"
#include "ops/places.hpp"

namespace soffit::cpu {
namespace {

// The row's place in the state, or a fault.
std::optional<Place> place_of(Member& m, const char* what, const StateDescription& d, const ArrayView& sequences,
                              const ArrayView& positions, int64_t row) {
  const Place at = place_at(sequences, positions, row);
  Status status = check_place(what, d, at);
  if (status) return at;
  m.plan.fail(std::move(status).error());
  return std::nullopt;
}

// One head's key and value, head_dim floats each.
void put(const VectorKernels& kernels, const KeyValueStore& store, const Place& at, int64_t head, const float* key,
         const float* value) {
  const int64_t dim = store.layer().head_dim, slot = store.slot(at.position), first = store.first_key(slot);
  if (store.half()) {
    auto* k = reinterpret_cast<uint16_t*>(store.keys(at.sequence, head)) + first;
    for (int64_t d = 0; d < dim; ++d) k[d * kKeyBlock] = float_to_half(key[d]);
    kernels.to_half(value, reinterpret_cast<uint16_t*>(store.values(at.sequence, head)) + slot * dim, dim);
  } else {
    auto* k = reinterpret_cast<float*>(store.keys(at.sequence, head)) + first;
    for (int64_t d = 0; d < dim; ++d) k[d * kKeyBlock] = key[d];
    std::memcpy(reinterpret_cast<float*>(store.values(at.sequence, head)) + slot * dim, value,
                size_t(dim) * sizeof(float));
  }
}

}  // namespace

Result<Step> make_append_key_value(const StepContext& c, const AppendKeyValue& o) {
  const auto* state = dynamic_cast<const CpuState*>(o.state);
  if (!state) return invalid_argument("append_key_value: state of another backend");
  Step step;
  step.run = [o, state, k = &c.kernels](Member& m) {
    const KeyValueStore& store = *state->key_values(o.layer);
    const int64_t heads = store.layer().heads, dim = store.layer().head_dim;
    for_rows(m, o.k.rows, [&](int64_t i) {
      const auto at = place_of(m, "append_key_value", state->description(), o.sequences, o.positions, i);
      if (!at) return;
      for (int64_t h = 0; h < heads; ++h)
        put(*k, store, *at, h, row_of<float>(o.k, i) + h * dim, row_of<float>(o.v, i) + h * dim);
      store.appended(at->sequence, at->position);
    });
  };
  return step;
}

// Work is cut into units of one key-value head and a few rows, or fewer query heads where there are not enough units.
Result<Step> make_attention(const StepContext& c, const Attention& o) {
  const auto* state = dynamic_cast<const CpuState*>(o.state);
  if (!state) return invalid_argument("attention: state of another backend");
  const KeyValueLayer layer = state->key_values(o.layer)->layer();
  const int64_t group = o.query_heads / layer.heads, n = o.q.rows;
  constexpr int64_t kRows = 8;
  const int64_t rows = std::min(n, kRows), row_blocks = rows ? (n + rows - 1) / rows : 0;
  const int64_t splits = layer.heads * row_blocks >= 2 * c.threads ? 1 : group;  // of a group's query heads
  const int64_t heads = group / splits;                                          // query heads a unit
  Step step;
  const uint64_t queries = uint64_t(rows * heads) * sizeof(AttendJob::Query);
  const uint64_t floats = (queries + 63) / 64 * 64;
  step.scratch = floats + uint64_t(kAttendScratch) * sizeof(float);
  step.run = [=, k = &c.kernels](Member& m) {
    const KeyValueStore& store = *state->key_values(o.layer);
    const KeyValueLayer l = store.layer();
    auto* list = reinterpret_cast<AttendJob::Query*>(m.scratch);
    AttendJob job;
    job.queries = list;
    job.half = store.half();
    job.held = store.held();
    job.head_dim = l.head_dim;
    job.scale = o.scale;
    job.scratch = reinterpret_cast<float*>(m.scratch + floats);
    const int64_t units = l.heads * row_blocks * splits;
    for (int64_t u; (u = m.next.fetch_add(1, std::memory_order_relaxed)) < units;) {
      // The last rows see the most keys: they go first.
      const int64_t block = row_blocks - 1 - u / (l.heads * splits), head = u % (l.heads * splits) / splits,
                    first = u % splits * heads;
      int64_t sequence = -1;
      job.count = 0;
      const auto flush = [&] {
        if (job.count == 0) return;
        job.keys = store.keys(sequence, head);
        job.values = store.values(sequence, head);
        k->attend(job);
        job.count = 0;
      };
      for (int64_t i = block * rows; i < std::min(n, (block + 1) * rows); ++i) {
        const auto at = place_of(m, "attention", state->description(), o.sequences, o.positions, i);
        if (!at) return;
        if (at->sequence != sequence) flush();
        sequence = at->sequence;
        const int64_t from = first_seen(*at, o.window);
        if (Status held = check_held(store, *at, from); !held) return m.plan.fail(std::move(held).error());
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t column = (head * group + first + h) * l.head_dim;
          list[job.count++] = {row_of<float>(o.q, i) + column, row_of<float>(o.y, i) + column, from, at->position + 1};
        }
      }
      flush();
    }
  };
  return step;
}

}  // namespace soffit::cpu
