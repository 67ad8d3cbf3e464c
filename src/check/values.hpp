// Activations for checks. Random ones use little of an error bound, so there are rows that are made to use it up, and
// rows whose results have a small bound, in which no fault can hide.
#pragma once

#include <span>

#include "check/random.hpp"

namespace soffit::checker {

enum class Values : uint8_t {
  normal,      // N(0, 1)
  midpoints,   // just below the midpoint between two int8 values, on the side that adds up for the row given
  losses,      // behind a 1 only terms too small to be added to it in fp32, all of one sign for the row given
  last_block,  // zero but for the last 32 columns
  one_block,   // zero but for 32 columns
  one_hot,     // zero but for one column
  constant,    // +-2000 or 3000 in blocks of 32, as sums of fp16 overflow
  spike,       // N(0, 1) and one 1e5, which is no fp16
};
const char* to_string(Values values);

// `weights`: a row of weights that midpoints and losses are aimed at.
void fill_values(Values kind, Random& random, std::span<const double> weights, std::span<float> x);

}  // namespace soffit::checker
