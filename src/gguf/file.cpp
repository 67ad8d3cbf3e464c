// Opening a file, or all parts of a split model, and putting the parts together.
#include <new>
#include <optional>

#include "core/concat.hpp"
#include "gguf/index.hpp"
#include "gguf/layout.hpp"
#include "gguf/mapping.hpp"
#include "gguf/parse.hpp"
#include "gguf/split.hpp"

namespace soffit::gguf {

struct File::Storage {
  std::vector<Mapping> mappings;
};

namespace {

// A part and what is needed to judge whether it belongs to its fellows.
struct OpenPart {
  std::string name;
  Mapping mapping;
  Part content;
  SplitKeys keys;
};

Result<OpenPart> open_part(const std::filesystem::path& path, OpenOptions options) {
  SOFFIT_TRY(Mapping mapping, Mapping::open(path, options.prefault));
  SOFFIT_TRY(Part content, parse_part(mapping.bytes(), path.native()));
  SOFFIT_TRY(const SplitKeys keys, split_keys(content, path.native()));
  return OpenPart{path.native(), std::move(mapping), std::move(content), keys};
}

// All parts in order, given the one that the caller named.
Result<std::vector<OpenPart>> open_all_parts(const std::filesystem::path& path, OpenOptions options) {
  SOFFIT_TRY(OpenPart named, open_part(path, options));
  std::vector<OpenPart> parts;
  const SplitKeys keys = named.keys;
  if (keys.count == 1) {
    parts.push_back(std::move(named));
    return parts;
  }
  const std::string shown = escaped(path.native(), 200);
  const auto name = SplitName::parse(path.filename().native());
  if (!name || name->count != keys.count || name->number != keys.number + 1) {
    return invalid_file(concat(shown, ": is part ", keys.number + 1, " of ", keys.count,
                               " of a split model, so its name must end in -<part>-of-<parts>.gguf with these numbers, "
                               "five digits each, for the other parts to be found"));
  }
  for (uint32_t number = 1; number <= name->count; number++) {
    if (number == name->number) {
      parts.push_back(std::move(named));
      continue;
    }
    auto part = open_part(path.parent_path() / name->part(number), options);
    if (!part) {
      return Error{part.error().code, concat("part ", number, " of ", name->count, ": ", part.error().message)};
    }
    if (part->keys.count != keys.count || part->keys.number + 1 != number) {
      return invalid_file(concat(escaped(part->name, 200), ": is part ", part->keys.number + 1, " of ",
                                 part->keys.count, " by its keys, but part ", number, " of ", keys.count,
                                 " by its name"));
    }
    parts.push_back(*std::move(part));
  }
  return parts;
}

}  // namespace

File::File(std::string name) : name_(std::move(name)) {}
File::~File() = default;

// The first part's metadata and the tensors of all parts, which are numbered in their order.
Status File::assemble(std::span<Part> parts, std::optional<int64_t> tensor_count) {
  Part& first = parts[0];
  version_ = first.version;
  alignment_ = first.alignment;
  parts_ = uint32_t(parts.size());
  metadata_ = std::move(first.metadata);
  metadata_order_ = std::move(first.metadata_order);
  tensors_ = std::move(first.tensors);
  tensor_order_ = std::move(first.tensor_order);
  for (uint32_t i = 1; i < parts.size(); i++) {
    for (Tensor& tensor : parts[i].tensors) {
      tensor.part = i;
      tensors_.push_back(std::move(tensor));
    }
  }
  const std::string shown = escaped(name_, 200);
  if (tensor_count && uint64_t(*tensor_count) != tensors_.size()) {
    return invalid_file(concat(shown, ": split.tensors.count is ", *tensor_count, ", but the ", parts_, " parts have ",
                               tensors_.size(), " tensors"));
  }
  if (parts_ == 1) return {};
  tensor_order_ = order_by_name<Tensor>(tensors_, &Tensor::name);
  const auto [one, other] = find_duplicate<Tensor>(tensors_, tensor_order_, &Tensor::name);
  if (one) {
    return invalid_file(concat(shown, ": tensor ", in_quotes(one->name), " is there twice, in part ", one->part + 1,
                               " and in part ", other->part + 1));
  }
  return {};
}

Result<std::shared_ptr<const File>> File::open(const std::filesystem::path& path, OpenOptions options) try {
  SOFFIT_TRY(std::vector<OpenPart> opened, open_all_parts(path, options));
  std::shared_ptr<File> file(new File(path.native()));
  file->storage_ = std::make_unique<Storage>();
  std::vector<Part> parts;
  for (OpenPart& part : opened) {
    file->size_bytes_ += part.mapping.bytes().size();
    file->storage_->mappings.push_back(std::move(part.mapping));
    parts.push_back(std::move(part.content));
  }
  SOFFIT_CHECK(file->assemble(parts, opened[0].keys.tensors));
  return std::shared_ptr<const File>(std::move(file));
} catch (const std::bad_alloc&) {
  return Error{Code::out_of_memory, "no memory for the descriptions of a GGUF file's tensors"};
}

Result<std::shared_ptr<const File>> File::parse(std::span<const std::byte> bytes, std::string name) try {
  SOFFIT_TRY(Part part, parse_part(bytes, name));
  SOFFIT_TRY(const SplitKeys keys, split_keys(part, name));
  std::shared_ptr<File> file(new File(std::move(name)));
  file->size_bytes_ = bytes.size();
  SOFFIT_CHECK(file->assemble({&part, 1}, keys.count == 1 ? keys.tensors : std::nullopt));
  return std::shared_ptr<const File>(std::move(file));
} catch (const std::bad_alloc&) {
  return Error{Code::out_of_memory, "no memory for the descriptions of a GGUF file's tensors"};
}

void File::release(std::span<const std::byte> bytes) const {
  if (!storage_) return;
  for (const Mapping& mapping : storage_->mappings) mapping.release(bytes);
}

const Value* File::find(std::string_view key) const {
  const KeyValue* found = find_by_name<KeyValue>(metadata_, metadata_order_, &KeyValue::key, key);
  return found ? &found->value : nullptr;
}

const Tensor* File::tensor(std::string_view name) const {
  return find_by_name<Tensor>(tensors_, tensor_order_, &Tensor::name, name);
}

}  // namespace soffit::gguf
