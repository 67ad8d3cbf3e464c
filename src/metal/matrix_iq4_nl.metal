// IQ4_NL: what strips of weights are for.
#include "metal/strips/iq4_nl.h"
#include "metal/matrix.h"

SOFFIT_MATRIX_KERNELS(iq4_nl)
