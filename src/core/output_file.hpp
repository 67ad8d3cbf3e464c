// A file that appears under its name only when it is complete: written beside it under a temporary name, then renamed.
// A file that it replaces passes its permissions on. Not synchronised to the disk: a power cut may lose it, as with any
// copied file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "soffit/status.hpp"

namespace soffit {

class OutputFile {
 public:
  // Refuses a path at which something other than a regular file stands; a symbolic link's target is what is replaced.
  static Result<OutputFile> create(const std::filesystem::path& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // removes the temporary file, if commit() did not succeed

  // After a failure every further call fails too.
  Status write(std::span<const std::byte> bytes);
  Status commit();

 private:
  OutputFile(std::filesystem::path target, std::filesystem::path temporary, int descriptor);
  Status flush();
  Status write_out(std::span<const std::byte> bytes);
  Error failed(std::string_view action, int error);

  std::filesystem::path target_, temporary_;
  int descriptor_ = -1;
  bool failed_ = false;
  std::vector<std::byte> buffer_;
};

}  // namespace soffit
