// Q4_0: what strips of weights are for.
#include "metal/strips/q4_0.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q4_0)
