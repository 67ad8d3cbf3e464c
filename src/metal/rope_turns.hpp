// The table of rotate_heads. Source: arXiv 2104.09864; YaRN: arXiv 2309.00071, as llama.cpp computes it.
#pragma once

#include <vector>

#include "soffit/operation.hpp"

namespace soffit::metal {

struct Turns {
  float high, low;  // their sum: turns of a pair for each position
};
struct RopeTable {
  std::vector<Turns> turns;  // dimensions / 2
  float magnitude;
};
// `frequency_factors`: dimensions / 2 numbers, or null.
RopeTable rope_turns(const RopeParameters& rope, const float* frequency_factors);

}  // namespace soffit::metal
