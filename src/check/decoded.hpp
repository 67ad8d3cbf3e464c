// Rows of weights as the reference decodes them, in double precision, with what an error bound needs to know of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "soffit/format.hpp"

namespace soffit::checker {

// Columns that share a scale, and whether a minimum is subtracted: w = code * scale - minimum.
struct Grouping {
  int columns = 1;
  bool minimum = false;
};
Grouping grouping(Format format);

struct DecodedRow {
  std::vector<double> weight;
  // |code * scale| + |minimum|, and |weight| where there is no minimum: the two parts are summed apart, so it is their
  // sizes that rounding errors follow.
  std::vector<double> magnitude;
  double magnitude_sum = 0;
  // |scale|: by what a weight changes when its code is one more. Only where it was asked for, and of formats whose
  // codes count steps.
  std::vector<double> step;
};
// `bytes` are those of one row.
DecodedRow decode_row(Format format, std::span<const std::byte> bytes, bool with_steps = false);

}  // namespace soffit::checker
