// The angles of rotary position embedding. Source: arXiv 2104.09864; YaRN: arXiv 2309.00071, as llama.cpp computes it.
#pragma once

#include "soffit/operation.hpp"

namespace soffit {

// The angle of each pair at position 1, to `radians`: at another it is that many times as much. Returned is YaRN's
// factor of cosine and sine.
float rope_frequencies(const RopeParameters& rope, const float* frequency_factors, double* radians);

// cosine and sine of each pair at a position, times YaRN's factor; `dimensions / 2` of each, good to 4e-7 of the factor
// at any position.
void rope_angles(const RopeParameters& rope, const float* frequency_factors, int32_t position, float* cosine,
                 float* sine);

// Rotates one head in place.
void rotate_head(const RopeParameters& rope, const float* cosine, const float* sine, float* head);

}  // namespace soffit
