// F32: what strips of weights are for.
#include "metal/strips/f32.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(f32)
