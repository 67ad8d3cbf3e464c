#include "gguf/encode.hpp"

#include "core/concat.hpp"
#include "gguf/cursor.hpp"
#include "gguf/layout.hpp"

namespace soffit::gguf {
namespace {

template <class T>
constexpr ValueType value_type() {
  if constexpr (std::is_same_v<T, uint8_t>) return ValueType::u8;
  if constexpr (std::is_same_v<T, int8_t>) return ValueType::i8;
  if constexpr (std::is_same_v<T, uint16_t>) return ValueType::u16;
  if constexpr (std::is_same_v<T, int16_t>) return ValueType::i16;
  if constexpr (std::is_same_v<T, uint32_t>) return ValueType::u32;
  if constexpr (std::is_same_v<T, int32_t>) return ValueType::i32;
  if constexpr (std::is_same_v<T, float>) return ValueType::f32;
  if constexpr (std::is_same_v<T, bool>) return ValueType::boolean;
  if constexpr (std::is_same_v<T, std::string>) return ValueType::string;
  if constexpr (std::is_same_v<T, uint64_t>) return ValueType::u64;
  if constexpr (std::is_same_v<T, int64_t>) return ValueType::i64;
  if constexpr (std::is_same_v<T, double>) return ValueType::f64;
}

template <class T>
Status encode_scalar(const T& scalar, Encoded& encoded) {
  encoded.value.type = value_type<T>();
  if constexpr (std::is_same_v<T, std::string>) {
    SOFFIT_CHECK(check_string(scalar));
    encoded.bytes.put(bytes_of(scalar));
  } else if constexpr (std::is_same_v<T, bool>) {
    encoded.bytes.put(uint8_t(scalar));
  } else {
    encoded.bytes.put(scalar);
  }
  return {};
}

template <class T>
Status encode_array(const std::vector<T>& array, Encoded& encoded) {
  encoded.value.type = ValueType::array;
  encoded.value.element_type = value_type<T>();
  encoded.value.count = array.size();
  for (size_t i = 0; i < array.size(); i++) {
    if constexpr (std::is_same_v<T, std::string>) {
      SOFFIT_CHECK(check_string(array[i]));
      encoded.bytes.put_string(array[i]);
    } else if constexpr (std::is_same_v<T, bool>) {
      encoded.bytes.put(uint8_t(array[i]));
    } else {
      encoded.bytes.put(array[i]);
    }
  }
  return {};
}

}  // namespace

Status check_string(std::string_view text) {
  if (text.size() <= kMaxStringBytes) return {};
  return invalid_argument(concat("a string of ", text.size(), " bytes, at most ", kMaxStringBytes, " are allowed"));
}

Status encode(const OwnedValue& value, Encoded& encoded) {
  const auto scalar_or_array = [&]<class T>(const T& held) -> Status {
    if constexpr (std::is_same_v<T, Array>) {
      return std::visit([&](const auto& array) { return encode_array(array, encoded); }, held);
    } else {
      return encode_scalar(held, encoded);
    }
  };
  SOFFIT_CHECK(std::visit(scalar_or_array, value));
  encoded.value.bytes = encoded.bytes.view();
  return {};
}

// That the bytes are what the types say.
Status check_value(const Value& value) {
  const auto fault = [&] {
    return invalid_argument(
        concat("a value of type ", to_string(value.type), " cannot have ", value.bytes.size(), " bytes"));
  };
  if (!is_value_type(uint32_t(value.type)))
    return invalid_argument(concat("unknown value type ", uint32_t(value.type)));
  if (value.type == ValueType::string) return check_string(as_text(value.bytes));
  if (value.type != ValueType::array) {
    if (value.bytes.size() != scalar_bytes(value.type)) return fault();
    return {};
  }
  if (!is_value_type(uint32_t(value.element_type)) || value.element_type == ValueType::array) {
    return invalid_argument(concat("an array cannot have elements of type ", to_string(value.element_type)));
  }
  if (value.count > kMaxArrayElements) {
    return invalid_argument(
        concat("an array of ", value.count, " elements, at most ", kMaxArrayElements, " are allowed"));
  }
  if (value.element_type != ValueType::string) {
    if (value.bytes.size() != value.count * scalar_bytes(value.element_type)) return fault();
    return {};
  }
  Cursor cursor(value.bytes);
  std::span<const std::byte> text;
  for (uint64_t i = 0; i < value.count; i++) {
    uint64_t length;
    if (!cursor.read(length) || length > kMaxStringBytes || !cursor.take(length, text)) return fault();
  }
  if (cursor.remaining() != 0) return fault();
  return {};
}

}  // namespace soffit::gguf
