// One row of weights times one row of activations: the exact result and how far a right one may be from it.
#pragma once

#include <span>
#include <vector>

#include "check/bounds.hpp"
#include "check/decoded.hpp"

namespace soffit::checker {

struct ActivationRow {
  ActivationRow(std::span<const float> from, int activation_block);

  std::vector<double> x, error, reach;  // reach: |x| + error
  double activation = 0;                // sum of reach
};

Value product(Format format, const Arithmetic& arithmetic, const DecodedRow& weights, const ActivationRow& activations);

}  // namespace soffit::checker
