// A file that appears under its name only when it is complete. It is written without a name where the file system can
// (O_TMPFILE), so that nothing stays behind however the process ends, else beside it under a temporary one; then
// renamed. A file that it replaces passes its permissions on. Not synchronised to the disk: a power cut may lose it, as
// with any copied file.
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
  ~OutputFile();  // removes what was written, if commit() did not succeed

  // After a failure every further call fails too.
  Status write(std::span<const std::byte> bytes);
  Status commit();

 private:
  OutputFile(std::filesystem::path target, int descriptor);
  // Tries names until `take` is true; where it is not for another reason than EEXIST, errno says why.
  template <class Take>
  Status take_temporary_name(Take take);
  Status flush();
  Status write_out(std::span<const std::byte> bytes);
  Error failed(std::string_view action, int error);

  std::filesystem::path target_, temporary_;  // temporary_ is empty as long as the file has no name
  int descriptor_ = -1;
  bool failed_ = false;
  std::vector<std::byte> buffer_;
};

}  // namespace soffit
