#include "gguf/split.hpp"

#include <algorithm>

#include "core/concat.hpp"
#include "gguf/index.hpp"
#include "gguf/layout.hpp"

namespace soffit::gguf {
namespace {

constexpr std::string_view kSuffix = ".gguf";
constexpr size_t kDigits = 5;

std::string five_digits(uint32_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

// The number that the last five characters of `text` write, which are then removed.
std::optional<uint32_t> take_number(std::string_view& text) {
  if (text.size() < kDigits) return std::nullopt;
  uint32_t number = 0;
  for (const char digit : text.substr(text.size() - kDigits)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + uint32_t(digit - '0');
  }
  text.remove_suffix(kDigits);
  return number;
}

bool take(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace

std::optional<SplitName> SplitName::parse(std::string_view text) {
  if (!take(text, kSuffix)) return std::nullopt;
  const auto count = take_number(text);
  if (!count || !take(text, "-of-")) return std::nullopt;
  const auto number = take_number(text);
  if (!number || !take(text, "-") || *number < 1 || *number > *count) return std::nullopt;
  return SplitName{std::string(text), *number, *count};
}

std::string SplitName::part(uint32_t number) const {
  return concat(prefix, "-", five_digits(number), "-of-", five_digits(count), kSuffix);
}

Result<SplitKeys> split_keys(const Part& part, std::string_view name) {
  const auto integer = [&](std::string_view key, int64_t absent) -> Result<int64_t> {
    const KeyValue* entry = find_by_name<KeyValue>(part.metadata, part.metadata_order, &KeyValue::key, key);
    if (!entry) return absent;
    const auto value = entry->value.as_integer();
    if (!value) return invalid_file(concat(escaped(name, 200), ": key '", key, "': ", value.error().message));
    return value;
  };
  SplitKeys keys;
  SOFFIT_TRY(keys.number, integer("split.no", 0));
  SOFFIT_TRY(keys.count, integer("split.count", 1));
  SOFFIT_TRY(const int64_t tensors, integer("split.tensors.count", -1));
  if (keys.count == 0) keys.count = 1;  // llama.cpp takes it so
  if (tensors >= 0) keys.tensors = tensors;
  if (keys.number < 0 || keys.number >= keys.count) {
    return invalid_file(concat(escaped(name, 200), ": split.no is ", keys.number, ", but split.count is ", keys.count));
  }
  return keys;
}

}  // namespace soffit::gguf
