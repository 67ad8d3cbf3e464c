// GGUF files: metadata and tensors of a memory-mapped file, or of all parts of a split one.
// Source: the GGUF specification (versions 2 and 3) as ggml reads it. Every size is checked before it is used or
// allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "soffit/format.hpp"
#include "soffit/status.hpp"

namespace soffit::gguf {

// GGUF's value types, by id.
enum class ValueType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};
const char* to_string(ValueType type);  // "u32"

// One metadata value. Strings and arrays point into the mapped file and live as long as the File.
class Value {
 public:
  ValueType type = ValueType::u8;
  ValueType element_type = ValueType::u8;  // of an array
  uint64_t count = 1;                      // elements of an array
  std::span<const std::byte> bytes;        // a scalar's bytes, a string's text, an array's raw elements

  // Any integer type of any width whose value fits; nothing else.
  Result<int64_t> as_integer() const;
  Result<double> as_number() const;  // f32, f64 or an integer
  Result<bool> as_boolean() const;
  Result<std::string_view> as_string() const;
  // Arrays, converted; the element type must be of the family asked for.
  Result<std::vector<int64_t>> as_integers() const;
  Result<std::vector<float>> as_numbers() const;
  Result<std::vector<bool>> as_booleans() const;
  Result<std::vector<std::string_view>> as_strings() const;
};

struct KeyValue {
  std::string_view key;
  Value value;
};

struct Tensor {
  std::string_view name;
  uint32_t type_id = 0;                // as in the file; formats without kernels have one too
  const FormatInfo* format = nullptr;  // never null in an opened file
  std::vector<int64_t> shape;          // ne0 first (fastest); at most 4 entries, missing ones are 1
  std::span<const std::byte> bytes;    // proven to lie inside the mapping; at a multiple of the part's alignment
  uint64_t file_offset = 0;            // of the first byte, from the start of its part
  uint32_t part = 0;                   // which file of a split model

  int64_t elements() const;
  int64_t dimension(size_t i) const { return i < shape.size() ? shape[i] : 1; }
};

struct OpenOptions {
  bool prefault = false;  // ask the kernel to read ahead the whole file
};

struct Part;

// Immutable after opening and safe to read from any number of threads. A file that someone cuts short while it is open
// ends the process at the next read of the lost part (SIGBUS); replace model files by renaming, never in place.
class File {
 public:
  // A path to a single file or to any part of a split one (PREFIX-00001-of-0000N.gguf): all parts are opened.
  static Result<std::shared_ptr<const File>> open(const std::filesystem::path& path, OpenOptions options = {});
  // The same checks on bytes in memory, which must outlive the File. `name` is used in messages. A part of a split
  // model stays alone.
  static Result<std::shared_ptr<const File>> parse(std::span<const std::byte> bytes, std::string name);

  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  uint32_t version() const { return version_; }
  uint64_t alignment() const { return alignment_; }    // of the first part
  uint64_t size_bytes() const { return size_bytes_; }  // of all parts
  uint32_t parts() const { return parts_; }
  const std::string& name() const { return name_; }
  std::span<const KeyValue> metadata() const { return metadata_; }  // in the file's order; of the first part
  std::span<const Tensor> tensors() const { return tensors_; }      // in the files' order
  // Null when there is none.
  const Value* find(std::string_view key) const;
  const Tensor* tensor(std::string_view name) const;
  // Tells the system that these bytes of a tensor will not be needed soon, so that they stop counting as resident. They
  // stay readable. Does nothing where the file is not mapped.
  void release(std::span<const std::byte> bytes) const;

 private:
  struct Storage;
  explicit File(std::string name);
  Status assemble(std::span<Part> parts, std::optional<int64_t> tensor_count);

  uint32_t version_ = 0, parts_ = 0;
  uint64_t alignment_ = 0, size_bytes_ = 0;
  std::string name_;
  std::vector<KeyValue> metadata_;
  std::vector<Tensor> tensors_;
  std::vector<uint32_t> metadata_order_, tensor_order_;  // by name
  std::unique_ptr<Storage> storage_;                     // what everything points into
};

// A value to be written: what Value reads, owned.
using Array = std::variant<std::vector<uint8_t>, std::vector<int8_t>, std::vector<uint16_t>, std::vector<int16_t>,
                           std::vector<uint32_t>, std::vector<int32_t>, std::vector<float>, std::vector<bool>,
                           std::vector<std::string>, std::vector<uint64_t>, std::vector<int64_t>, std::vector<double>>;
using OwnedValue = std::variant<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float, bool, std::string,
                                uint64_t, int64_t, double, Array>;

// Writes version 3. Metadata and tensor descriptions first, then each tensor's bytes in the order of their
// descriptions, so that a file larger than memory can be written. The file appears under its name only when finish()
// succeeds.
class Writer {
 public:
  static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& path, uint32_t alignment = 32);
  virtual ~Writer() = default;
  virtual Status add(std::string_view key, const OwnedValue& value) = 0;
  virtual Status add(std::string_view key, const Value& value) = 0;  // copied as it is
  virtual Status describe(std::string_view name, uint32_t type_id, std::span<const int64_t> shape) = 0;
  virtual Status write(std::span<const std::byte> bytes) = 0;  // the next bytes of the tensors' data, in any pieces
  virtual Status finish() = 0;                                 // an error if a tensor lacks bytes
};

}  // namespace soffit::gguf
