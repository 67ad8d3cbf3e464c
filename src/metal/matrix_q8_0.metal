// Q8_0: what strips of weights are for.
#include "metal/strips/q8_0.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q8_0)
