// IQ4_XS: what strips of weights are for.
#include "metal/strips/iq4_xs.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(iq4_xs)
