// TQ2_0: what strips of weights are for.
#include "metal/strips/tq2_0.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(tq2_0)
