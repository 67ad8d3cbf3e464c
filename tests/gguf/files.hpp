// Files on disk for tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "soffit/gguf.hpp"

namespace soffit::gguf::test {

// A directory of its own that goes when the test ends.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  std::vector<std::string> entries() const;  // sorted

 private:
  std::filesystem::path path_;
};

void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes);
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

// The file through the writer.
Status copy_model(const File& file, const std::filesystem::path& path);
// The same in parts, PREFIX-00001-of-0000N.gguf, each with its share of the tensors.
Status split_model(const File& file, const std::filesystem::path& prefix, uint16_t parts);

}  // namespace soffit::gguf::test
