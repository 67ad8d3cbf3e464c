// Which kernel of variants.hpp takes an operation with weights.
#pragma once

#include "metal/variants.hpp"

namespace soffit::metal {

// For `n` rows of activations or, of linear_id, of results. Null when there is none for the format.
const Variant* choose_variant(OperationKind operation, Format format, int64_t n);

// Support::code_offset of a variant: the largest of a block's places.
double code_offset(const Variant& variant);

}  // namespace soffit::metal
