// Source: the GGUF specification and the checks of ggml's reader and llama.cpp's loader. A count is believed only as
// far as the remaining bytes can hold it, and vectors grow with what was read, not with what was promised.
#include "gguf/parse.hpp"

#include <bit>
#include <string>

#include "core/checked.hpp"
#include "core/concat.hpp"
#include "gguf/cursor.hpp"
#include "gguf/index.hpp"
#include "gguf/layout.hpp"

namespace soffit::gguf {
namespace {

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, std::string_view name) : bytes_(bytes), cursor_(bytes), name_(name) {}

  Result<Part> parse() {
    SOFFIT_CHECK(header());
    SOFFIT_CHECK(metadata());
    SOFFIT_CHECK(alignment());
    SOFFIT_CHECK(descriptions());
    SOFFIT_CHECK(data());
    return std::move(part_);
  }

 private:
  template <class... Parts>
  Error fault(const Parts&... parts) const {
    return invalid_file(concat(escaped(name_, 200), ": ", parts...));
  }
  // What was being read when the bytes ended.
  template <class... Parts>
  Error ends(const Parts&... parts) const {
    return fault("the file ends within ", parts..., ", ", cursor_.remaining(), " bytes after offset ",
                 cursor_.position());
  }

  Status header() {
    std::span<const std::byte> magic;
    if (!cursor_.take(kMagic.size(), magic)) return fault(bytes_.size(), " bytes are too few for a GGUF file");
    if (as_text(magic) != kMagic) return fault("no GGUF file: it begins with ", in_quotes(as_text(magic)));
    if (!cursor_.read(part_.version)) return ends("its version");
    SOFFIT_CHECK(version());
    if (!cursor_.read(tensor_count_)) return ends("the number of tensors");
    if (!cursor_.read(key_count_)) return ends("the number of keys");
    // Keys first: tensors come after them and have what they leave.
    SOFFIT_CHECK(count(key_count_, kMinKeyValueBytes, "keys"));
    return count(tensor_count_, kMinTensorBytes, "tensors");
  }

  Status version() const {
    const uint32_t version = part_.version;
    // A small number whose low half is zero was written by a machine of the other byte order.
    if (version != 0 && (version & 0xffff) == 0) {
      return fault("version 0x", hexadecimal(version),
                   ": a file of the other endianness (big-endian); convert it to little-endian first");
    }
    if (version < kOldestVersion) {
      return fault("GGUF version ", version, " is too old: versions ", kOldestVersion, " to ", kNewestVersion,
                   " can be read; convert the model again");
    }
    if (version > kNewestVersion) {
      return fault("GGUF version ", version, " is newer than the versions ", kOldestVersion, " to ", kNewestVersion,
                   " that can be read");
    }
    return {};
  }

  static std::string hexadecimal(uint32_t value) {
    std::string digits;
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[value >> shift & 15];
    return digits;
  }

  Status count(int64_t count, uint64_t least_bytes, std::string_view what) const {
    if (count < 0) return fault("a negative number of ", what, ": ", count);
    const uint64_t most = cursor_.remaining() / least_bytes;
    if (uint64_t(count) > most || uint64_t(count) > kMaxArrayElements) {
      return fault(count, " ", what, " cannot lie in the remaining ", cursor_.remaining(), " bytes");
    }
    return {};
  }

  // `what` names the string in messages.
  template <class... What>
  Status string(std::span<const std::byte>& bytes, const What&... what) {
    uint64_t length;
    if (!cursor_.read(length)) return ends(what...);
    if (length > kMaxStringBytes || !cursor_.take(length, bytes)) {
      return fault(what..., " is ", length, " bytes long, ", cursor_.remaining(), " remain (limit ", kMaxStringBytes,
                   ")");
    }
    return {};
  }

  Status metadata() {
    for (int64_t i = 0; i < key_count_; i++) {
      std::span<const std::byte> key;
      SOFFIT_CHECK(string(key, "key ", i));
      if (key.empty()) return fault("key ", i, " is empty");
      KeyValue& entry = part_.metadata.emplace_back();
      entry.key = as_text(key);
      SOFFIT_CHECK(value(entry));
    }
    part_.metadata_order = order_by_name<KeyValue>(part_.metadata, &KeyValue::key);
    const auto [first, second] = find_duplicate<KeyValue>(part_.metadata, part_.metadata_order, &KeyValue::key);
    if (first) {
      return fault("key ", in_quotes(first->key), " is there twice, as number ", first - part_.metadata.data(), " and ",
                   second - part_.metadata.data());
    }
    return {};
  }

  Result<ValueType> value_type(std::string_view key, std::string_view what) {
    uint32_t id;
    if (!cursor_.read(id)) return ends("the type of key ", in_quotes(key));
    if (!is_value_type(id)) return fault("key ", in_quotes(key), ": unknown ", what, " type ", id);
    return ValueType(id);
  }

  Status value(KeyValue& entry) {
    Value& value = entry.value;
    SOFFIT_TRY(value.type, value_type(entry.key, "value"));
    if (value.type == ValueType::string) return string(value.bytes, "the text of key ", in_quotes(entry.key));
    if (value.type == ValueType::array) return array(entry);
    if (!cursor_.take(scalar_bytes(value.type), value.bytes)) return ends("the value of key ", in_quotes(entry.key));
    return {};
  }

  Status array(KeyValue& entry) {
    Value& value = entry.value;
    SOFFIT_TRY(value.element_type, value_type(entry.key, "array element"));
    if (value.element_type == ValueType::array) {
      return fault("key ", in_quotes(entry.key), " is an array of arrays, which GGUF readers do not support");
    }
    if (!cursor_.read(value.count)) return ends("the length of array ", in_quotes(entry.key));
    const bool strings = value.element_type == ValueType::string;
    const uint64_t least_bytes = strings ? 8 : scalar_bytes(value.element_type);
    if (value.count > kMaxArrayElements || value.count > cursor_.remaining() / least_bytes) {
      return fault("array ", in_quotes(entry.key), " of ", value.count, " elements cannot lie in the remaining ",
                   cursor_.remaining(), " bytes (limit ", kMaxArrayElements, " elements)");
    }
    const uint64_t begin = cursor_.position();
    if (strings) {
      std::span<const std::byte> text;
      for (uint64_t i = 0; i < value.count; i++) {
        // The message is built only when it is needed: a vocabulary has a quarter of a million of these.
        uint64_t length;
        if (!cursor_.read(length) || length > kMaxStringBytes || !cursor_.take(length, text)) {
          return fault("string ", i, " of array ", in_quotes(entry.key), " does not lie in the remaining ",
                       cursor_.remaining(), " bytes");
        }
      }
      value.bytes = bytes_.subspan(begin, cursor_.position() - begin);
    } else if (!cursor_.take(value.count * least_bytes, value.bytes)) {
      return ends("array ", in_quotes(entry.key));
    }
    return {};
  }

  Status alignment() {
    part_.alignment = kDefaultAlignment;
    const KeyValue* entry = find_by_name<KeyValue>(part_.metadata, part_.metadata_order, &KeyValue::key, kAlignmentKey);
    if (!entry) return {};
    if (entry->value.type != ValueType::u32) {
      return fault("key 'general.alignment' is of type ", to_string(entry->value.type), ", not u32");
    }
    const auto alignment = entry->value.as_integer();
    if (!alignment || !std::has_single_bit(uint64_t(*alignment))) {
      return fault("key 'general.alignment' is ", alignment ? *alignment : 0, ", no power of two");
    }
    part_.alignment = uint64_t(*alignment);
    return {};
  }

  Status descriptions() {
    // What the keys left may be too little.
    SOFFIT_CHECK(count(tensor_count_, kMinTensorBytes, "tensors"));
    for (int64_t i = 0; i < tensor_count_; i++) SOFFIT_CHECK(description(i));
    part_.tensor_order = order_by_name<Tensor>(part_.tensors, &Tensor::name);
    const auto [first, second] = find_duplicate<Tensor>(part_.tensors, part_.tensor_order, &Tensor::name);
    if (first) {
      return fault("tensor ", in_quotes(first->name), " is there twice, as number ", first - part_.tensors.data(),
                   " and ", second - part_.tensors.data());
    }
    return {};
  }

  Status description(int64_t i) {
    std::span<const std::byte> name;
    SOFFIT_CHECK(string(name, "the name of tensor ", i));
    if (name.size() > kMaxNameBytes) {
      return fault("the name of tensor ", i, ", ", in_quotes(as_text(name)), ", has ", name.size(), " bytes, at most ",
                   kMaxNameBytes, " are allowed");
    }
    Tensor& tensor = part_.tensors.emplace_back();
    tensor.name = as_text(name);
    uint32_t dimensions;
    if (!cursor_.read(dimensions)) return ends("tensor ", in_quotes(tensor.name));
    if (dimensions > kMaxDimensions) {
      return fault("tensor ", in_quotes(tensor.name), ": ", dimensions, " dimensions, at most ", kMaxDimensions,
                   " are allowed");
    }
    tensor.shape.resize(dimensions);
    for (int64_t& dimension : tensor.shape) {
      if (!cursor_.read(dimension)) return ends("the shape of tensor ", in_quotes(tensor.name));
    }
    if (!cursor_.read(tensor.type_id)) return ends("the type of tensor ", in_quotes(tensor.name));
    if (!cursor_.read(tensor.file_offset)) return ends("the offset of tensor ", in_quotes(tensor.name));
    tensor.format = find_format(tensor.type_id);
    const auto bytes = tensor_bytes(tensor.type_id, tensor.shape);
    if (!bytes) return fault("tensor ", in_quotes(tensor.name), ": ", bytes.error().message);
    sizes_.push_back(*bytes);
    return {};
  }

  // Tensors lie one after the other in the order of their descriptions, each padded to the alignment.
  Status data() {
    if (part_.tensors.empty()) return {};
    const auto start = checked_align(cursor_.position(), part_.alignment);
    if (!start) return fault("the data would begin beyond 2^64");
    uint64_t expected = 0;  // offset in the data
    for (size_t i = 0; i < part_.tensors.size(); i++) {
      Tensor& tensor = part_.tensors[i];
      const uint64_t offset = tensor.file_offset;
      if (offset % part_.alignment != 0) {
        return fault("tensor ", in_quotes(tensor.name), " at offset ", offset, " is not aligned to ", part_.alignment,
                     " bytes");
      }
      if (offset != expected) {
        return fault("tensor ", in_quotes(tensor.name), " is at offset ", offset, ", but the tensors before it end at ",
                     expected);
      }
      const auto padded = checked_align(sizes_[i], part_.alignment);
      const auto next = padded ? checked_add(expected, *padded) : std::nullopt;
      const auto position = checked_add(*start, offset);
      if (!next || !position) return fault("tensor ", in_quotes(tensor.name), " ends beyond 2^64");
      tensor.file_offset = *position;
      if (sizes_[i] > 0) {
        // The padding after the last tensor may be missing, the tensor's own bytes may not.
        const auto end = checked_add(*position, sizes_[i]);
        if (!end || *end > bytes_.size()) {
          return fault("tensor ", in_quotes(tensor.name), " has ", sizes_[i], " bytes from offset ", *position,
                       ", but the file has only ", bytes_.size(), " bytes: it is cut short");
        }
        tensor.bytes = bytes_.subspan(*position, sizes_[i]);
      }
      expected = *next;
    }
    return {};
  }

  std::span<const std::byte> bytes_;
  Cursor cursor_;
  std::string_view name_;
  int64_t tensor_count_ = 0, key_count_ = 0;
  std::vector<uint64_t> sizes_;  // of the tensors, in bytes
  Part part_;
};

}  // namespace

Result<Part> parse_part(std::span<const std::byte> bytes, std::string_view name) { return Parser(bytes, name).parse(); }

}  // namespace soffit::gguf
