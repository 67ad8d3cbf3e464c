#pragma once

#include "cpu/kernels.hpp"

namespace soffit::cpu {

// Null where this build has none.
const VectorKernels* kernels_for(Isa isa);

}  // namespace soffit::cpu
