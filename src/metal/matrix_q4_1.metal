// Q4_1: what strips of weights are for.
#include "metal/strips/q4_1.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q4_1)
