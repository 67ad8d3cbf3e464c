#include "files.hpp"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

#include "gguf/split.hpp"

namespace soffit::gguf::test {
namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "soffit-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot create " + name);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() { fs::remove_all(path_); }

std::vector<std::string> TemporaryDirectory::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

void write_bytes(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<std::byte> bytes(fs::file_size(path));
  stream.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

namespace {

Status write_tensors(Writer& writer, std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) SOFFIT_CHECK(writer.describe(tensor.name, tensor.type_id, tensor.shape));
  for (const Tensor& tensor : tensors) SOFFIT_CHECK(writer.write(tensor.bytes));
  return writer.finish();
}

}  // namespace

Status copy_model(const File& file, const fs::path& path) {
  SOFFIT_TRY(const auto writer, Writer::create(path, uint32_t(file.alignment())));
  for (const KeyValue& entry : file.metadata()) SOFFIT_CHECK(writer->add(entry.key, entry.value));
  return write_tensors(*writer, file.tensors());
}

Status split_model(const File& file, const fs::path& prefix, uint16_t parts) {
  const size_t total = file.tensors().size();
  for (uint16_t part = 0; part < parts; part++) {
    const fs::path path = SplitName{prefix.string(), uint32_t(part + 1), parts}.part(part + 1u);
    SOFFIT_TRY(const auto writer, Writer::create(path, uint32_t(file.alignment())));
    if (part == 0) {
      for (const KeyValue& entry : file.metadata()) SOFFIT_CHECK(writer->add(entry.key, entry.value));
    }
    SOFFIT_CHECK(writer->add("split.no", OwnedValue(part)));
    SOFFIT_CHECK(writer->add("split.count", OwnedValue(parts)));
    SOFFIT_CHECK(writer->add("split.tensors.count", OwnedValue(int32_t(total))));
    const size_t begin = total * part / parts, end = total * (part + 1u) / parts;
    SOFFIT_CHECK(write_tensors(*writer, file.tensors().subspan(begin, end - begin)));
  }
  return {};
}

}  // namespace soffit::gguf::test
