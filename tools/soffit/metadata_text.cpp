#include "metadata_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

namespace soffit::tool {
namespace {

using gguf::Value;
using gguf::ValueType;

template <class T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The double that has the float's shortest decimal form: 1e-05, not 9.999999747378752e-06.
Json float_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = fmt::format("{}", value);
  double shortest = value;
  std::from_chars(text.data(), text.data() + text.size(), shortest);
  return shortest;
}

// `bytes` hold one scalar of the type: the reader has proven it.
Json scalar_json(ValueType type, std::span<const std::byte> bytes) {
  switch (type) {
    case ValueType::u8:
      return load<uint8_t>(bytes);
    case ValueType::i8:
      return load<int8_t>(bytes);
    case ValueType::u16:
      return load<uint16_t>(bytes);
    case ValueType::i16:
      return load<int16_t>(bytes);
    case ValueType::u32:
      return load<uint32_t>(bytes);
    case ValueType::i32:
      return load<int32_t>(bytes);
    case ValueType::f32:
      return float_json(load<float>(bytes));
    case ValueType::boolean:
      return load<uint8_t>(bytes) != 0;
    case ValueType::u64:
      return load<uint64_t>(bytes);
    case ValueType::i64:
      return load<int64_t>(bytes);
    case ValueType::f64:
      return load<double>(bytes);
    case ValueType::string:
    case ValueType::array:
      break;
  }
  return nullptr;
}

// Calls visit(element) for each element until it returns false.
template <class Visit>
void for_each_element(const Value& array, Visit visit) {
  if (array.element_type == ValueType::string) {
    std::span<const std::byte> rest = array.bytes;
    for (uint64_t i = 0; i < array.count; i++) {
      const size_t length = size_t(load<uint64_t>(rest));
      const auto text = rest.subspan(sizeof(uint64_t), length);
      if (!visit(Json(std::string(reinterpret_cast<const char*>(text.data()), length)))) return;
      rest = rest.subspan(sizeof(uint64_t) + length);
    }
    return;
  }
  if (array.count == 0) return;
  const size_t size = array.bytes.size() / array.count;
  for (uint64_t i = 0; i < array.count; i++) {
    if (!visit(scalar_json(array.element_type, array.bytes.subspan(i * size, size)))) return;
  }
}

}  // namespace

Json to_json(const Value& value) {
  if (const auto text = value.as_string()) return std::string(*text);
  if (value.type != ValueType::array) return scalar_json(value.type, value.bytes);
  Json elements = Json::array();
  for_each_element(value, [&](Json element) {
    elements.push_back(std::move(element));
    return true;
  });
  return elements;
}

std::string type_text(const Value& value) {
  if (value.type != ValueType::array) return to_string(value.type);
  return fmt::format("{}[{}]", to_string(value.element_type), value.count);
}

std::string value_text(const Value& value, size_t columns) {
  if (const auto text = value.as_string()) {
    return text->size() <= columns ? std::string(*text) : std::string(text->substr(0, columns)) + "…";
  }
  if (value.type != ValueType::array) return json_text(scalar_json(value.type, value.bytes));
  std::string result;
  for_each_element(value, [&](const Json& element) {
    if (!result.empty()) result += ", ";
    if (result.size() > columns) {
      result += "…";
      return false;
    }
    result += json_text(element);
    return true;
  });
  return result;
}

}  // namespace soffit::tool
