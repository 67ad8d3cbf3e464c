// F32 matrix times vector.
#include "metal/linear_plain.h"

namespace soffit {

template <typename X>
struct F32Part {
  typedef float Weight;
};

}  // namespace soffit

SOFFIT_LINEAR_NUMBERS_KERNEL(f32_best, F32Part)
