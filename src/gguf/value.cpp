// Metadata values to numbers and texts. A Value is checked here again, so that one put together by hand cannot be read
// outside its bytes either.
#include <cmath>
#include <limits>

#include "core/concat.hpp"
#include "gguf/cursor.hpp"
#include "gguf/layout.hpp"

namespace soffit::gguf {
namespace {

Error mismatch(const Value& value, std::string_view wanted) {
  if (value.type != ValueType::array)
    return invalid_file(concat("a value of type ", to_string(value.type), ", not ", wanted));
  return invalid_file(concat("an array of ", to_string(value.element_type), ", not ", wanted));
}

Error broken(const Value& value) {
  return invalid_argument(concat("a value of type ", to_string(value.type), " with ", value.bytes.size(), " bytes"));
}

bool is_integer(ValueType type) {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::u16:
    case ValueType::i16:
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::u64:
    case ValueType::i64:
      return true;
    default:
      return false;
  }
}

bool is_number(ValueType type) { return is_integer(type) || type == ValueType::f32 || type == ValueType::f64; }

template <class T>
Result<T> next(Cursor& cursor, const Value& value) {
  T number;
  if (!cursor.read(number)) return broken(value);
  return number;
}

template <class T>
Result<int64_t> next_as_integer(Cursor& cursor, const Value& value) {
  SOFFIT_TRY(const T number, next<T>(cursor, value));
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (number > uint64_t(std::numeric_limits<int64_t>::max())) {
      return invalid_file(concat("the value ", number, " is over 2^63 - 1"));
    }
  }
  return int64_t(number);
}

// The next scalar, of an integer type.
Result<int64_t> read_integer(ValueType type, Cursor& cursor, const Value& value) {
  switch (type) {
    case ValueType::u8:
      return next_as_integer<uint8_t>(cursor, value);
    case ValueType::i8:
      return next_as_integer<int8_t>(cursor, value);
    case ValueType::u16:
      return next_as_integer<uint16_t>(cursor, value);
    case ValueType::i16:
      return next_as_integer<int16_t>(cursor, value);
    case ValueType::u32:
      return next_as_integer<uint32_t>(cursor, value);
    case ValueType::i32:
      return next_as_integer<int32_t>(cursor, value);
    case ValueType::u64:
      return next_as_integer<uint64_t>(cursor, value);
    case ValueType::i64:
      return next_as_integer<int64_t>(cursor, value);
    default:
      return mismatch(value, "an integer");
  }
}

Result<double> read_number(ValueType type, Cursor& cursor, const Value& value) {
  if (type == ValueType::f64) return next<double>(cursor, value);
  if (type == ValueType::f32) {
    SOFFIT_TRY(const float number, next<float>(cursor, value));
    return double(number);
  }
  SOFFIT_TRY(const int64_t number, read_integer(type, cursor, value));
  return double(number);
}

Status is_array_of(const Value& value, bool of_that_family, std::string_view wanted) {
  if (value.type != ValueType::array || !of_that_family) return mismatch(value, wanted);
  // What proves that the elements are there also bounds what will be allocated for them.
  const uint64_t least_bytes = value.element_type == ValueType::string ? 8 : scalar_bytes(value.element_type);
  if (value.count > value.bytes.size() / least_bytes) return broken(value);
  return {};
}

}  // namespace

Result<int64_t> Value::as_integer() const {
  if (!is_integer(type)) return mismatch(*this, "an integer");
  Cursor cursor(bytes);
  return read_integer(type, cursor, *this);
}

Result<double> Value::as_number() const {
  if (!is_number(type)) return mismatch(*this, "a number");
  Cursor cursor(bytes);
  return read_number(type, cursor, *this);
}

Result<bool> Value::as_boolean() const {
  if (type != ValueType::boolean) return mismatch(*this, "a boolean");
  Cursor cursor(bytes);
  SOFFIT_TRY(const uint8_t byte, next<uint8_t>(cursor, *this));
  return byte != 0;
}

Result<std::string_view> Value::as_string() const {
  if (type != ValueType::string) return mismatch(*this, "a string");
  return as_text(bytes);
}

Result<std::vector<int64_t>> Value::as_integers() const {
  SOFFIT_CHECK(is_array_of(*this, is_integer(element_type), "an array of integers"));
  std::vector<int64_t> result(count);
  Cursor cursor(bytes);
  for (int64_t& element : result) {
    SOFFIT_TRY(element, read_integer(element_type, cursor, *this));
  }
  return result;
}

Result<std::vector<float>> Value::as_numbers() const {
  SOFFIT_CHECK(is_array_of(*this, is_number(element_type), "an array of numbers"));
  std::vector<float> result(count);
  Cursor cursor(bytes);
  for (float& element : result) {
    SOFFIT_TRY(const double number, read_number(element_type, cursor, *this));
    // Infinities and NaN pass; a finite double beyond float's range must not become one.
    if (std::isfinite(number) &&
        (number > std::numeric_limits<float>::max() || number < std::numeric_limits<float>::lowest())) {
      return invalid_file(concat("element ", &element - result.data(), " does not fit in 32 bits"));
    }
    element = float(number);
  }
  return result;
}

Result<std::vector<bool>> Value::as_booleans() const {
  SOFFIT_CHECK(is_array_of(*this, element_type == ValueType::boolean, "an array of booleans"));
  std::vector<bool> result(count);
  for (uint64_t i = 0; i < count; i++) result[i] = bytes[i] != std::byte(0);
  return result;
}

Result<std::vector<std::string_view>> Value::as_strings() const {
  SOFFIT_CHECK(is_array_of(*this, element_type == ValueType::string, "an array of strings"));
  std::vector<std::string_view> result(count);
  Cursor cursor(bytes);
  for (std::string_view& element : result) {
    uint64_t length;
    std::span<const std::byte> text;
    if (!cursor.read(length) || !cursor.take(length, text)) return broken(*this);
    element = as_text(text);
  }
  return result;
}

}  // namespace soffit::gguf
