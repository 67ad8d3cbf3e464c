// TQ1_0: what strips of weights are for.
#include "metal/strips/tq1_0.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(tq1_0)
