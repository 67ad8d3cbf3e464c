// Metal as CUDA C++: a lane is a thread, a simdgroup a warp, a threadgroup a block. Numbers are the plain mode's, so
// that results have the same bits; nvcc needs --expt-relaxed-constexpr, since what the modes share is constexpr and
// says nothing of host and device, and --fmad=false.
#pragma once

#define SOFFIT_LANES_MODE plain_mode

// Each needs those before it.
// clang-format off
#include "scalar_plain.h"
#include "vector.h"
#include "math.h"
#include "cuda_exchange.h"
#include "simd.h"
#include "simdgroup_matrix.h"
#include "types.h"
#include "arguments.h"
#include "cuda_arguments.h"
// clang-format on

namespace metal {
namespace lanes = soffit::lanes;
}
