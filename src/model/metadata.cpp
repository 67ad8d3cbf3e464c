#include "model/metadata.hpp"

#include <cmath>
#include <utility>

namespace soffit::model {
namespace {

Status check_bounds(const std::string& key, int64_t value, Metadata::Bounds bounds) {
  if (value >= bounds.least && value <= bounds.most) return {};
  return invalid_file("key '" + key + "' is " + std::to_string(value) + ", expected " + std::to_string(bounds.least) +
                      " to " + std::to_string(bounds.most));
}

Status check_number(const std::string& key, double value, bool positive) {
  if (std::isfinite(value) && std::isfinite(float(value)) && (positive ? float(value) > 0 : value >= 0)) return {};
  return invalid_file("key '" + key + "' is " + std::to_string(value) + ", expected a finite number " +
                      (positive ? "above zero" : "of at least zero"));
}

}  // namespace

Metadata::Metadata(const gguf::File& file, std::string architecture)
    : file_(file), architecture_(std::move(architecture)) {}

Error Metadata::missing(std::string_view name) const { return invalid_file("key '" + key(name) + "' is missing"); }

Error Metadata::wrong(std::string_view name, const Error& error) const {
  return invalid_file("key '" + key(name) + "': " + error.message);
}

Result<int64_t> Metadata::integer(std::string_view name, Bounds bounds) const {
  const gguf::Value* value = file_.find(key(name));
  if (!value) return missing(name);
  const auto integer = value->as_integer();
  if (!integer) return wrong(name, integer.error());
  SOFFIT_CHECK(check_bounds(key(name), *integer, bounds));
  return *integer;
}

Result<int64_t> Metadata::integer(std::string_view name, Bounds bounds, int64_t fallback) const {
  return has(name) ? integer(name, bounds) : fallback;
}

Result<std::vector<int64_t>> Metadata::per_layer(std::string_view name, Bounds bounds, int64_t layers) const {
  const gguf::Value* value = file_.find(key(name));
  if (!value) return missing(name);
  if (value->type != gguf::ValueType::array) {
    SOFFIT_TRY(const int64_t same, integer(name, bounds));
    return std::vector<int64_t>(size_t(layers), same);
  }
  // Counted first, so that a long array is not converted in vain.
  if (value->count != uint64_t(layers)) {
    return invalid_file("key '" + key(name) + "' has " + std::to_string(value->count) + " elements for " +
                        std::to_string(layers) + " layers");
  }
  auto integers = value->as_integers();
  if (!integers) return wrong(name, integers.error());
  for (size_t i = 0; i < integers->size(); i++) {
    SOFFIT_CHECK(check_bounds(key(name) + "[" + std::to_string(i) + "]", (*integers)[i], bounds));
  }
  return *std::move(integers);
}

Result<float> Metadata::number(std::string_view name, bool positive) const {
  const gguf::Value* value = file_.find(key(name));
  if (!value) return missing(name);
  const auto number = value->as_number();
  if (!number) return wrong(name, number.error());
  SOFFIT_CHECK(check_number(key(name), *number, positive));
  return float(*number);
}

Result<float> Metadata::number(std::string_view name, bool positive, float fallback) const {
  return has(name) ? number(name, positive) : fallback;
}

Result<bool> Metadata::boolean(std::string_view name, bool fallback) const {
  const gguf::Value* value = file_.find(key(name));
  if (!value) return fallback;
  const auto boolean = value->as_boolean();
  if (!boolean) return wrong(name, boolean.error());
  return *boolean;
}

Result<std::string> Metadata::string(std::string_view name, std::string_view fallback) const {
  const gguf::Value* value = file_.find(key(name));
  if (!value) return std::string(fallback);
  const auto text = value->as_string();
  if (!text) return wrong(name, text.error());
  return std::string(*text);
}

}  // namespace soffit::model
