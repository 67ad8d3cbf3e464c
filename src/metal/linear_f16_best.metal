// F16 matrix times vector.
#include "metal/linear_plain.h"

namespace soffit {

template <typename X>
struct F16Part {
  typedef half Weight;
};

}  // namespace soffit

SOFFIT_LINEAR_NUMBERS_KERNEL(f16_best, F16Part)
