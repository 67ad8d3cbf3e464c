// MXFP4: what strips of weights are for.
#include "metal/strips/mxfp4.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(mxfp4)
