// Counts as figures for each weight, and what they would mean on Apple's chips.
#pragma once

#include <span>
#include <string_view>

#include "lanes/launch.hpp"
#include "soffit/backend.hpp"

namespace soffit::metal {

struct Figures {
  uint64_t slots_useful = 0, slots_issued = 0;
  double lane_use = 0;
  // Slots for each weight.
  double integer = 0, floating = 0, conversion = 0, floor = 0, special = 0, index = 0;
  double inner = 0;  // in the loop over payload
  double total = 0;  // all but index
  uint64_t weight_bytes = 0, activation_bytes = 0;
  double segments[3] = {};  // of 32, 64 and 128 bytes, for each pass
  double collectives = 0;   // for each simdgroup and 32 weights, as slots are
};
Figures figures(const lanes::Counts& counts, uint64_t weights);

// Published and derived figures; nothing of this was measured on such a chip.
struct Chip {
  std::string_view name;
  double teraflops;  // fp32: cores * 256 * GHz / 1000
  double gb_per_second;
};
std::span<const Chip> chips();

// Operations for a byte of memory where a chip's fp32 rate and its bandwidth meet.
inline double ridge(const Chip& chip) { return chip.teraflops * 1e12 / (chip.gb_per_second * 1e9); }

// An estimate: the longer of reading `bytes` at 100 % of the bandwidth and issuing `slots` at the rate of fma. Latency,
// occupancy, caches, launches and the indices' arithmetic, of which compilers fold most, are left out.
double estimated_seconds(const Chip& chip, double slots, double bytes);

}  // namespace soffit::metal
