// Q4_K: what strips of weights are for.
#include "metal/strips/q4_k.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q4_k)
