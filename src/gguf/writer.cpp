// The writer: what it is given goes through the same limits as what the reader accepts.
#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "core/checked.hpp"
#include "core/concat.hpp"
#include "core/output_file.hpp"
#include "gguf/encode.hpp"
#include "gguf/layout.hpp"

namespace soffit::gguf {
namespace {

class StreamWriter final : public Writer {
 public:
  StreamWriter(OutputFile file, uint32_t alignment) : file_(std::move(file)), alignment_(alignment) {}

  Status add(std::string_view key, const OwnedValue& value) override {
    Encoded encoded;
    if (auto status = encode(value, encoded); !status) return named("key", key, status.error());
    return add(key, encoded.value);
  }

  Status add(std::string_view key, const Value& value) override {
    if (began_) return invalid_argument(concat("key ", in_quotes(key), " comes after tensor data"));
    if (key.empty()) return invalid_argument("a key is empty");
    if (auto status = check_string(key); !status) return named("key", key, status.error());
    if (auto status = check_value(value); !status) return named("key", key, status.error());
    if (key == kAlignmentKey) {
      const auto alignment = value.as_integer();
      if (value.type != ValueType::u32 || !alignment || *alignment != int64_t(alignment_)) {
        return invalid_argument(concat("key 'general.alignment' must be the u32 ", alignment_, " of this file"));
      }
    }
    if (!keys_.insert(std::string(key)).second)
      return invalid_argument(concat("key ", in_quotes(key), " is there twice"));
    metadata_.put_string(key);
    metadata_.put(uint32_t(value.type));
    if (value.type == ValueType::array) {
      metadata_.put(uint32_t(value.element_type));
      metadata_.put(value.count);
    } else if (value.type == ValueType::string) {
      metadata_.put(uint64_t(value.bytes.size()));
    }
    metadata_.put(value.bytes);
    return {};
  }

  Status describe(std::string_view name, uint32_t type_id, std::span<const int64_t> shape) override {
    if (began_) return invalid_argument(concat("tensor ", in_quotes(name), " comes after tensor data"));
    if (name.size() > kMaxNameBytes) {
      return invalid_argument(concat("tensor name ", in_quotes(name), " has ", name.size(), " bytes, at most ",
                                     kMaxNameBytes, " are allowed"));
    }
    const auto bytes = tensor_bytes(type_id, shape);
    if (!bytes) return named("tensor", name, bytes.error());
    const auto padded = checked_align(*bytes, alignment_);
    const auto end = padded ? checked_add(data_bytes_, *padded) : std::nullopt;
    if (!end || *end > uint64_t(std::numeric_limits<int64_t>::max())) {
      return invalid_argument(concat("tensor ", in_quotes(name), " of ", *bytes, " bytes ends beyond 2^63"));
    }
    if (!names_.insert(std::string(name)).second) {
      return invalid_argument(concat("tensor ", in_quotes(name), " is there twice"));
    }
    descriptions_.put_string(name);
    descriptions_.put(uint32_t(shape.size()));
    for (const int64_t dimension : shape) descriptions_.put(dimension);
    descriptions_.put(type_id);
    descriptions_.put(data_bytes_);
    data_bytes_ = *end;
    tensors_.push_back({std::string(name), *bytes});
    return {};
  }

  Status write(std::span<const std::byte> bytes) override {
    SOFFIT_CHECK(begin());
    while (!bytes.empty()) {
      if (current_ == tensors_.size()) {
        return invalid_argument(concat(bytes.size(), " bytes more than the tensors have"));
      }
      const uint64_t lacking = tensors_[current_].bytes - written_;
      const auto piece = bytes.first(size_t(std::min<uint64_t>(lacking, bytes.size())));
      SOFFIT_CHECK(file_.write(piece));
      written_ += piece.size();
      bytes = bytes.subspan(piece.size());
      SOFFIT_CHECK(complete_tensors());
    }
    return {};
  }

  Status finish() override {
    SOFFIT_CHECK(begin());
    if (current_ < tensors_.size()) {
      return invalid_argument(concat("tensor ", in_quotes(tensors_[current_].name), " has ", tensors_[current_].bytes,
                                     " bytes, but only ", written_, " were written"));
    }
    if (finished_) return invalid_argument("the file is finished already");
    finished_ = true;
    return file_.commit();
  }

 private:
  struct Planned {
    std::string name;
    uint64_t bytes;
  };

  static Error named(std::string_view what, std::string_view name, const Error& error) {
    return {Code::invalid_argument, concat(what, " ", in_quotes(name), ": ", error.message)};
  }

  // Everything before the data.
  Status begin() {
    if (began_) return {};
    if (alignment_ != kDefaultAlignment && !keys_.contains(std::string(kAlignmentKey))) {
      SOFFIT_CHECK(add(kAlignmentKey, OwnedValue(uint32_t(alignment_))));
    }
    began_ = true;
    Bytes header;
    header.put(bytes_of(kMagic));
    header.put(kNewestVersion);
    header.put(int64_t(tensors_.size()));
    header.put(int64_t(keys_.size()));
    SOFFIT_CHECK(file_.write(header.view()));
    SOFFIT_CHECK(file_.write(metadata_.view()));
    SOFFIT_CHECK(file_.write(descriptions_.view()));
    if (tensors_.empty()) return {};
    SOFFIT_CHECK(pad(header.size() + metadata_.size() + descriptions_.size()));
    metadata_ = descriptions_ = {};
    return complete_tensors();
  }

  // Pads the current tensor if it has all its bytes, and passes over those that have none.
  Status complete_tensors() {
    while (current_ < tensors_.size() && written_ == tensors_[current_].bytes) {
      SOFFIT_CHECK(pad(written_));
      written_ = 0;
      current_++;
    }
    return {};
  }

  Status pad(uint64_t position) {
    static constexpr std::byte kZeros[4096] = {};
    uint64_t count = *checked_align(position, alignment_) - position;
    while (count > 0) {
      const size_t piece = size_t(std::min<uint64_t>(count, sizeof kZeros));
      SOFFIT_CHECK(file_.write(std::span(kZeros, piece)));
      count -= piece;
    }
    return {};
  }

  OutputFile file_;
  const uint64_t alignment_;
  std::set<std::string> keys_, names_;
  Bytes metadata_, descriptions_;
  std::vector<Planned> tensors_;
  uint64_t data_bytes_ = 0;
  bool began_ = false, finished_ = false;
  size_t current_ = 0;    // the tensor whose bytes come next
  uint64_t written_ = 0;  // of it
};

}  // namespace

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& path, uint32_t alignment) {
  if (!std::has_single_bit(alignment)) return invalid_argument(concat("alignment ", alignment, " is no power of two"));
  SOFFIT_TRY(OutputFile file, OutputFile::create(path));
  return std::unique_ptr<Writer>(std::make_unique<StreamWriter>(std::move(file), alignment));
}

}  // namespace soffit::gguf
