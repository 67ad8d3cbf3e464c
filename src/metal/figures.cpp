#include "metal/figures.hpp"

#include <algorithm>

namespace soffit::metal {

using lanes::Cost;

Figures figures(const lanes::Counts& counts, uint64_t weights) {
  const auto slots = [&](const auto& list, Cost cost) {
    return weights ? double(list[size_t(cost)]) / double(weights) : 0;
  };
  Figures f;
  f.slots_issued = counts.passes * lanes::kLanes;
  f.slots_useful = counts.useful;
  f.lane_use = counts.passes ? double(counts.useful) / double(f.slots_issued) : 0;
  f.integer = slots(counts.slots, Cost::integer);
  f.floating = slots(counts.slots, Cost::floating);
  f.conversion = slots(counts.slots, Cost::conversion);
  f.floor = slots(counts.slots, Cost::floor);
  f.special = slots(counts.slots, Cost::special);
  f.index = slots(counts.slots, Cost::index);
  f.total = f.integer + f.floating + f.conversion + f.floor + f.special;
  for (const Cost cost : {Cost::integer, Cost::floating, Cost::conversion, Cost::floor, Cost::special}) {
    f.inner += slots(counts.inner, cost);
  }
  f.weight_bytes = counts.weight_bytes;
  f.activation_bytes = counts.activation_bytes;
  for (size_t s = 0; s < 3; ++s) f.segments[s] = counts.passes ? double(counts.segments[s]) / double(counts.passes) : 0;
  f.collectives = slots(counts.slots, Cost::collective);
  return f;
}

std::span<const Chip> chips() {
  // Of M5 Apple has published no fp32 rate: M4's stands in, as the least that it can be.
  static constexpr Chip kChips[] = {
      {"M1", 2.6, 68.3},    {"M1 Pro", 5.3, 204.8}, {"M1 Max", 10.6, 409.6}, {"M1 Ultra", 21.2, 819.2},
      {"M2", 3.6, 102.4},   {"M2 Pro", 6.8, 204.8}, {"M2 Max", 13.6, 409.6}, {"M2 Ultra", 27.2, 819.2},
      {"M3", 3.5, 102.4},   {"M3 Pro", 6.4, 153.6}, {"M3 Max", 14.1, 409.6}, {"M3 Ultra", 28.4, 819.2},
      {"M4", 4.3, 120},     {"M4 Pro", 9.2, 273},   {"M4 Max", 18.4, 546},   {"M5", 4.3, 153.6},
      {"M5 Pro", 9.2, 307}, {"M5 Max", 18.4, 614},
  };
  return kChips;
}

double estimated_seconds(const Chip& chip, double slots, double bytes) {
  return std::max(slots / (chip.teraflops / 2 * 1e12), bytes / (chip.gb_per_second * 1e9));
}

}  // namespace soffit::metal
