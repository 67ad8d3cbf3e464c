// BF16: what strips of weights are for.
#include "metal/strips/bf16.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(bf16)
