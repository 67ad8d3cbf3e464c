// Q5_1: what strips of weights are for.
#include "metal/strips/q5_1.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q5_1)
