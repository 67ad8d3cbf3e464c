#include "gguf/layout.hpp"

#include <limits>

#include "core/checked.hpp"
#include "core/concat.hpp"

namespace soffit::gguf {
namespace {

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); i++) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace

const char* to_string(ValueType type) {
  static constexpr const char* kNames[] = {"u8",      "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "boolean", "string", "array", "u64", "i64", "f64"};
  return is_value_type(uint32_t(type)) ? kNames[uint32_t(type)] : "unknown";
}

int64_t Tensor::elements() const {
  int64_t product = 1;  // fits: tensor_bytes() saw the shape
  for (const int64_t dimension : shape) product *= dimension;
  return product;
}

Result<uint64_t> tensor_bytes(uint32_t type_id, std::span<const int64_t> shape) {
  const FormatInfo* format = find_format(type_id);
  if (!format) return invalid_file(concat("type id ", type_id, " is unknown or was removed from GGUF"));
  if (shape.size() > kMaxDimensions) {
    return invalid_file(concat(shape.size(), " dimensions, at most ", kMaxDimensions, " are allowed"));
  }
  constexpr uint64_t kMax = uint64_t(std::numeric_limits<int64_t>::max());
  // Zeros are left out of the product, so that [0, 2^62, 2^62] does not pass on the strength of its zero: whoever
  // multiplies some of the dimensions must not overflow either.
  uint64_t elements = 1;
  bool empty = false;
  for (const int64_t dimension : shape) {
    if (dimension < 0) return invalid_file(concat("shape ", shape_text(shape), " has a negative dimension"));
    if (dimension == 0) {
      empty = true;
      continue;
    }
    const auto product = checked_mul(elements, uint64_t(dimension));
    if (!product || *product > kMax) {
      return invalid_file(concat("shape ", shape_text(shape), " has more than 2^63 - 1 elements"));
    }
    elements = *product;
  }
  const int64_t row = shape.empty() ? 1 : shape[0];
  if (row % format->block_elements != 0) {
    return invalid_file(concat("rows of ", row, " elements are no multiple of the ", format->block_elements,
                               " elements of a block of ", format->name));
  }
  if (empty) return uint64_t(0);
  const auto bytes = checked_mul(elements / format->block_elements, format->block_bytes);
  if (!bytes || *bytes > kMax) {
    return invalid_file(concat("shape ", shape_text(shape), " in ", format->name, " has more than 2^63 - 1 bytes"));
  }
  return *bytes;
}

}  // namespace soffit::gguf
