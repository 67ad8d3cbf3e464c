#include "metal/matrix_kernels.hpp"

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

// What is added and what is taken off, which are terms of the sums both; the largest of a format's places.
double code_offset(const Variant& variant) {
  if (variant.terms != Terms::offsets) return 0;
  switch (variant.format) {
    case Format::q4_k:
      return 2 * 512;
    case Format::q5_k:  // the nibble's, and the fifth bit's, which counts 16
      return 2 * 512 + 2 * 16 * 1024 / 4.0;
    case Format::q6_k:
      return 1024 + 1056;
    case Format::q8_0:
      return 2 * 1152;
    case Format::tq1_0:
      return 2 * 5;
    case Format::q4_0:
    case Format::q4_1:
      return 2 * (512 + 8);
    case Format::q5_0:
    case Format::q5_1:
      return 2 * (64 + 16);
    case Format::q2_k:  // and the same for the minima, which are taken from such a half too
      return 2 * 1024 / 4.0;
    case Format::q3_k:  // the twos' and the third bit's, which counts 4
      return 2 * (1024 / 4.0 + 4) + 2 * 4 * 1024 / 4.0;
    default:
      return 2 * (1024 / 4.0 + 1);
  }
}

}  // namespace soffit::metal
