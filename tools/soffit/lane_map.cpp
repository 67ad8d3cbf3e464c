#include "lane_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "metal/block_weights.hpp"

namespace soffit::tool {

namespace {

// "0–3, 8" of ascending numbers.
std::string ranges(const std::vector<uint64_t>& numbers, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i == 2) --end;  // two are no range
    text += fmt::format("{}{}", text.empty() ? "" : between, numbers[i]);
    if (end - i > 1) text += fmt::format("–{}", numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace

std::string to_text(LaneSet lanes) {
  std::vector<uint64_t> list;
  for (uint64_t l = 0; l < lanes::kLanes; ++l) {
    if (lanes >> l & 1) list.push_back(l);
  }
  return fmt::format("L{}", ranges(list, ", "));
}

std::string counted_from_one(const std::vector<uint64_t>& numbers) {
  std::vector<uint64_t> more;
  for (const uint64_t n : numbers) more.push_back(n + 1);
  return ranges(more, " ");
}

LaneMap::LaneMap(const MatrixShape& of, const std::vector<lanes::LaneLoads>& loads)
    : step(lanes::first_step(loads, of.row_bytes)), shape(of) {
  if (!step.payload) shape.format.reset();
  if (shape.format) weights_of_bytes = metal::weights_of_bytes(*shape.format);
  for (const lanes::LaneLoads& lane : step.lanes) add_bytes(lane);
  std::ranges::sort(strips, {}, [](const LaneStrip& s) { return std::pair(s.simdgroup, s.row); });
  std::set<uint32_t> simdgroup_numbers;
  for (LaneStrip& strip : strips) {
    simdgroup_numbers.insert(strip.simdgroup);
    if (shape.format) add_weights(strip);
  }
  simdgroups = simdgroup_numbers.size();
  if (!strips.empty()) find_cohorts();
  find_activations();
}

void LaneMap::add_bytes(const lanes::LaneLoads& lane) {
  for (const lanes::TracedLoad& load : lane.loads) {
    if (load.buffer != step.buffer) continue;
    for (uint64_t at = load.offset; at < load.offset + load.bytes; ++at) {
      const uint64_t row = shape.row_bytes ? at / shape.row_bytes : 0;
      const auto same = [&](const LaneStrip& s) { return s.simdgroup == lane.simdgroup && s.row == row; };
      auto strip = std::ranges::find_if(strips, same);
      if (strip == strips.end()) strip = strips.insert(strips.end(), {lane.simdgroup, row, {}, {}});
      strip->bytes[at - row * shape.row_bytes] |= LaneSet(1) << lane.lane;
    }
  }
}

void LaneMap::add_weights(LaneStrip& strip) const {
  const FormatInfo& format = info(*shape.format);
  std::map<uint64_t, LaneSet> all, any;
  for (const auto& [at, set] : strip.bytes) {
    const uint64_t block = at / format.block_bytes;
    for (const uint32_t w : weights_of_bytes[at % format.block_bytes]) {
      const uint64_t column = block * format.block_elements + w;
      const auto [place, added] = all.emplace(column, set);
      if (!added) place->second &= set;
      any[column] |= set;
    }
  }
  // Lanes may share a code's bytes out among them.
  for (const auto& [column, set] : all) strip.weights[column] = set ? set : any[column];
}

void LaneMap::find_cohorts() {
  const uint64_t elements = shape.format ? info(*shape.format).block_elements : 0;
  const uint64_t block_columns = elements <= kGroup ? 256 : elements;
  // Blocks and groups of each lane. Where nothing is known of the bytes all lanes are one cohort.
  std::map<uint32_t, std::pair<std::set<std::pair<uint64_t, uint64_t>>, std::set<uint64_t>>> lanes;
  const auto add = [&](LaneSet set, uint64_t row, uint64_t block, uint64_t group) {
    for (uint32_t l = 0; l < lanes::kLanes; ++l) {
      if (!(set >> l & 1)) continue;
      lanes[l].first.emplace(row, block);
      lanes[l].second.insert(group);
    }
  };
  for (const LaneStrip& strip : strips) {
    if (strip.simdgroup != strips.front().simdgroup) continue;
    for (const auto& [column, set] : strip.weights)
      add(set, strip.row, column / block_columns, column % block_columns / kGroup);
    if (shape.format) continue;
    for (const auto& [at, set] : strip.bytes) add(set, 0, 0, 0);
  }
  for (const auto& [lane, places] : lanes) {
    const std::vector<std::pair<uint64_t, uint64_t>> blocks(places.first.begin(), places.first.end());
    const std::vector<uint64_t> groups(places.second.begin(), places.second.end());
    auto cohort = std::ranges::find(cohorts, blocks, &LaneCohort::blocks);
    if (cohort == cohorts.end()) cohort = cohorts.insert(cohorts.end(), {0, blocks, {}});
    cohort->lanes |= LaneSet(1) << lane;
    auto team = std::ranges::find(cohort->teams, groups, &LaneTeam::groups);
    if (team == cohort->teams.end()) team = cohort->teams.insert(cohort->teams.end(), {0, groups});
    team->lanes |= LaneSet(1) << lane;
  }
}

void LaneMap::find_activations() {
  if (!shape.format || !shape.activation_bytes || !shape.cols) return;
  own_activations = true;
  for (const lanes::LaneLoads& lane : step.lanes) {
    std::set<uint64_t> read, own;
    for (const lanes::TracedLoad& load : lane.loads) {
      if (load.weights || load.buffer == step.buffer) continue;
      const uint64_t first = load.offset / shape.activation_bytes;
      const uint64_t end = (load.offset + load.bytes) / shape.activation_bytes;
      for (uint64_t c = first; c < end; ++c) read.insert(c % shape.cols);
    }
    for (const LaneStrip& strip : strips) {
      if (strip.simdgroup != lane.simdgroup) continue;
      for (const auto& [column, set] : strip.weights) {
        if (set >> lane.lane & 1) own.insert(column);
      }
    }
    activations = std::max<uint64_t>(activations, read.size());
    own_activations &= read == own;
  }
}

}  // namespace soffit::tool
