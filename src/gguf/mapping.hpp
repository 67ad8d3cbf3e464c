// A file's bytes, mapped for reading. A file that is cut short while it is mapped ends the process with SIGBUS at the
// next read of the lost part: no check at opening can prevent that.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "soffit/status.hpp"

namespace soffit::gguf {

class Mapping {
 public:
  // Only a regular file that is not empty. With `prefault` the kernel is asked to read it ahead.
  static Result<Mapping> open(const std::filesystem::path& path, bool prefault);

  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::span<const std::byte> bytes() const { return bytes_; }
  // Whole pages of `part`, if it lies in this mapping, stop counting as resident until they are read again.
  void release(std::span<const std::byte> part) const;

 private:
  explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace soffit::gguf
