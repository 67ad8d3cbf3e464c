#include "lanes/counters.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace soffit::lanes {

void Nodes::enter(Lane& lane, uint32_t scope) {
  const Scope& s = library_.scopes[scope];
  const uint64_t place = uint64_t(lane.node) << 32 | lane.site;
  const auto [child, added] = children_[place].try_emplace(scope, uint32_t(nodes_.size()));
  if (added) {
    nodes_.push_back({lane.node, uint32_t(size_), s.last - s.first, s.loop});
    size_ += s.last - s.first;
  }
  lane.node = child->second;
  lane.base = nodes_[lane.node].base - s.first;
  lane.site = s.first;
}

void Nodes::loads_payload(uint32_t node) {
  while (node != 0 && !nodes_[node].loop) node = nodes_[node].parent;
  nodes_[node].payload = node != 0;
}

std::vector<bool> Nodes::inner() const {
  std::vector<bool> inside(nodes_.size()), operators(size_);
  for (size_t n = 1; n < nodes_.size(); ++n) {  // a node comes behind its parent
    inside[n] = inside[nodes_[n].parent] || nodes_[n].payload;
    if (!inside[n]) continue;
    for (uint32_t i = 0; i < nodes_[n].operators; ++i) operators[nodes_[n].base + i] = true;
  }
  return operators;
}

void PayloadRuns::add(uint32_t node, uint32_t site, uint32_t buffer, uint64_t offset, uint32_t bytes) {
  const size_t oldest = runs_.size() > kOpen ? runs_.size() - kOpen : 0;
  for (size_t i = runs_.size(); i-- > oldest;) {
    PayloadRun& run = runs_[i].run;
    const uint64_t begin = std::min(run.offset, offset), end = std::max(run.offset + run.bytes, offset + bytes);
    const bool touching = run.buffer == buffer && offset <= run.offset + run.bytes && run.offset <= offset + bytes;
    if (!touching || end - begin > kLongest) continue;
    run.offset = begin;
    run.bytes = uint32_t(end - begin);
    return;
  }
  const uint32_t ordinal = ordinals_[uint64_t(node) << 32 | site]++;
  runs_.push_back({node, {site, ordinal, buffer, bytes, offset}});
}

void PayloadRuns::clear() {
  runs_.clear();
  ordinals_.clear();
}

void SimdgroupCounters::finish_passes(Counts& counts) {
  // A pass: the lanes' loads of one operator, one time each.
  struct Part {
    uint32_t lane;
    PayloadRun run;
  };
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<Part>> passes;
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (const auto& [node, run] : lanes[l].runs.list()) {
      passes[{node, run.site, run.ordinal}].push_back({l, run});
    }
    lanes[l].runs.clear();
  }
  static constexpr uint64_t kSegments[] = {32, 64, 128};
  for (const auto& [key, parts] : passes) {
    ++counts.passes;
    for (const auto& [lane, run] : parts) counts.useful += taken_[run.buffer].add(run.offset, run.bytes) > 0;
    for (size_t s = 0; s < 3; ++s) {
      std::set<std::pair<uint32_t, uint64_t>> segments;
      for (const auto& [lane, run] : parts) {
        const uint64_t first = run.offset / kSegments[s], last = (run.offset + run.bytes - 1) / kSegments[s];
        for (uint64_t n = first; n <= last; ++n) segments.emplace(run.buffer, n);
      }
      counts.segments[s] += segments.size();
    }
  }
  for (auto& [buffer, taken] : taken_) taken.clear();
}

void SimdgroupCounters::finish(Counts& counts, std::vector<uint64_t>& slots) {
  size_t used = 0;
  for (const LaneCounters& lane : lanes) used = std::max(used, lane.counts.size());
  if (slots.size() < used) slots.resize(used);
  for (size_t i = 0; i < used; ++i) {
    uint32_t busiest = 0;
    for (const LaneCounters& lane : lanes) {
      if (i < lane.counts.size()) busiest = std::max(busiest, lane.counts[i]);
    }
    slots[i] += uint64_t(busiest) * kLanes;
  }
  for (LaneCounters& lane : lanes) std::ranges::fill(lane.counts, 0);
  finish_passes(counts);
  for (auto& [buffer, bytes] : touched) bytes.clear();
}

}  // namespace soffit::lanes
