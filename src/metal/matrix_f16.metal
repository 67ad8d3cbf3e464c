// F16: what strips of weights are for.
#include "metal/strips/f16.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(f16)
