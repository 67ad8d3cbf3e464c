// Q2_K: what strips of weights are for.
#include "metal/strips/q2_k.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q2_k)
