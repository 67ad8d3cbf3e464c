// Q5_K: what strips of weights are for.
#include "metal/strips/q5_k.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(q5_k)
