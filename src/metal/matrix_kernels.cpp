#include "metal/matrix_kernels.hpp"

#include <algorithm>

#include "metal/offsets.hpp"

namespace soffit::metal {
namespace {

// A vector kernel reads weights once for each row of activations, a kernel by columns once for 8, one by tiles for 32.
constexpr int64_t kColumns = 8;
// Slots of experts from which it pays to sort them by expert.
constexpr int64_t kSlots = 32;

}  // namespace

const Variant* choose_variant(OperationKind operation, Format format, int64_t n) {
  switch (operation) {
    case OperationKind::linear:
      return find_variant(operation, format, n <= 1 ? "best" : n <= kColumns ? "columns" : "tiles");
    case OperationKind::linear_id:
      return find_variant(operation, format, n <= kSlots ? "best" : "tiles");
    case OperationKind::get_rows:
      return find_variant(operation, format, "strips");
    default:
      return nullptr;
  }
}

double code_offset(const Variant& variant) {
  double largest = 0;
  if (variant.terms == Terms::offsets)
    for (size_t i = 0; i < info(variant.format).block_elements; ++i)
      largest = std::max(largest, code_offset(variant.format, i));
  return largest;
}

}  // namespace soffit::metal
