// Q6_K: what strips of weights are for.
#include "metal/strips/q6_k.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q6_k)
