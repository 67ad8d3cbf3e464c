#include "touch.hpp"

namespace soffit::gguf::test {
namespace {

bool inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// A sanitizer sees the reads; `volatile` keeps the compiler from dropping them.
void read(std::span<const std::byte> bytes) {
  for (const std::byte& byte : bytes) (void)*static_cast<const volatile std::byte*>(&byte);
}

const char* touch(const Value& value) {
  read(value.bytes);
  (void)value.as_integer(), (void)value.as_number(), (void)value.as_boolean(), (void)value.as_string();
  (void)value.as_integers(), (void)value.as_numbers(), (void)value.as_booleans();
  const auto strings = value.as_strings();
  if (!strings) return value.element_type == ValueType::string ? "a string array without its strings" : nullptr;
  if (strings->size() != value.count) return "a string array of another length";
  for (const std::string_view text : *strings) {
    if (!inside(std::as_bytes(std::span(text)), value.bytes)) return "a string outside its array";
    read(std::as_bytes(std::span(text)));
  }
  return nullptr;
}

}  // namespace

const char* touch_everything(const File& file, std::span<const std::byte> bytes) {
  for (const KeyValue& entry : file.metadata()) {
    if (!inside(entry.value.bytes, bytes)) return "a value outside the file";
    if (file.find(entry.key) != &entry.value) return "a key that is not found";
    if (const char* fault = touch(entry.value)) return fault;
  }
  uint64_t end = 0;
  for (const Tensor& tensor : file.tensors()) {
    if (!tensor.format) return "a tensor without a format";
    if (file.tensor(tensor.name) != &tensor) return "a tensor that is not found";
    const uint64_t blocks = uint64_t(tensor.elements()) / tensor.format->block_elements;
    if (tensor.bytes.size() != blocks * tensor.format->block_bytes) return "a tensor of another size";
    if (!inside(tensor.bytes, bytes)) return "a tensor outside the file";
    read(tensor.bytes);
    if (tensor.bytes.empty()) continue;
    if (tensor.bytes.data() != bytes.data() + tensor.file_offset) return "a tensor that is not at its offset";
    if (tensor.file_offset < end) return "tensors that overlap";
    end = tensor.file_offset + tensor.bytes.size();
  }
  return nullptr;
}

}  // namespace soffit::gguf::test
