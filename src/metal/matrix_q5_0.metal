// Q5_0: what strips of weights are for.
#include "metal/strips/q5_0.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q5_0)
