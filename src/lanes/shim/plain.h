// Metal as C++ at the machine's speed: nothing is checked or counted.
#pragma once

#define SOFFIT_LANES_MODE plain_mode

// Each needs those before it.
// clang-format off
#include "scalar_plain.h"
#include "vector.h"
#include "math.h"
#include "exchange.h"
#include "simd.h"
#include "simdgroup_matrix.h"
#include "types.h"
#include "arguments.h"
#include "lane_arguments.h"
// clang-format on

namespace metal {
namespace lanes = soffit::lanes;
}
