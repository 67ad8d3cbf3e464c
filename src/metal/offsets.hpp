// What `best` kernels add to codes and take off their sums again; see the kernels' heads.
#pragma once

#include <cstddef>

#include "soffit/format.hpp"

namespace soffit::metal {

// Both together, in steps of a code, for a column of a block.
double code_offset(Format format, size_t column);

}  // namespace soffit::metal
