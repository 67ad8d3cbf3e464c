// Q3_K: what strips of weights are for.
#include "metal/strips/q3_k.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q3_k)
