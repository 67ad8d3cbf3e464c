// BF16 matrix times vector.
#include "metal/linear_plain.h"

namespace soffit {

template <typename X>
struct BF16Part {
  typedef bfloat Weight;
};

}  // namespace soffit

SOFFIT_LINEAR_NUMBERS_KERNEL(bf16_best, BF16Part)
