#include "core/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr int kNameAttempts = 100;

std::string shown(const std::filesystem::path& path) { return escaped(path.native(), 200); }

Error io_error(std::string_view action, const std::filesystem::path& path, int error) {
  return {Code::io, concat("cannot ", action, " ", shown(path), ": ", std::generic_category().message(error))};
}

// The name under which the kernel knows an open file that has none.
std::string descriptor_path(int descriptor) { return concat("/proc/self/fd/", descriptor); }

// A file without a name in the folder; below zero where the system or the file system has no such files.
int open_nameless(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const int descriptor = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (descriptor < 0 || faccessat(AT_FDCWD, descriptor_path(descriptor).c_str(), F_OK, 0) == 0) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  if (path.empty()) return Error{Code::io, "cannot create a file with an empty name"};
  std::error_code error;
  fs::path target = path;
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    target = fs::canonical(path, error);
    if (error) return io_error("follow", path, error.value());
  }
  const fs::file_status status = fs::status(target, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return Error{Code::io, concat(shown(path), " exists and is not a regular file")};
  }
  if (!target.has_filename()) return Error{Code::io, concat(shown(path), " is a folder's name")};
  const int descriptor = open_nameless(target);
  OutputFile file(std::move(target), descriptor);
  if (file.descriptor_ < 0) {
    SOFFIT_CHECK(file.take_temporary_name([&](const fs::path& name) {
      file.descriptor_ = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return file.descriptor_ >= 0;
    }));
  }
  if (fs::exists(status)) (void)fchmod(file.descriptor_, mode_t(status.permissions() & fs::perms::all));
  return file;
}

template <class Take>
Status OutputFile::take_temporary_name(Take take) {
  for (int attempt = 0; attempt < kNameAttempts; attempt++) {
    std::filesystem::path name = target_;
    name += concat(".", getpid(), "-", attempt, ".tmp");
    if (take(name)) {
      temporary_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) return io_error("create", name, errno);
  }
  return io_error("create a temporary file for", target_, EEXIST);
}

OutputFile::OutputFile(std::filesystem::path target, int descriptor)
    : target_(std::move(target)), descriptor_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      failed_(other.failed_),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) SOFFIT_CHECK(flush());
  if (bytes.size() > kBufferBytes) return write_out(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Status OutputFile::flush() {
  SOFFIT_CHECK(write_out(buffer_));
  buffer_.clear();
  return {};
}

Status OutputFile::write_out(std::span<const std::byte> bytes) {
  if (failed_) return failed("write", EIO);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed("write", written < 0 ? errno : EIO);
    bytes = bytes.subspan(size_t(written));
  }
  return {};
}

Status OutputFile::commit() {
  SOFFIT_CHECK(flush());
  if (temporary_.empty()) {
    // A name of its own first: linkat does not replace, rename does.
    SOFFIT_CHECK(take_temporary_name([&](const std::filesystem::path& name) {
      return linkat(AT_FDCWD, descriptor_path(descriptor_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    }));
  }
  // Some file systems report a failed write only now.
  if (close(std::exchange(descriptor_, -1)) != 0 || rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_.c_str());
    return failed("finish", error);
  }
  return {};
}

Error OutputFile::failed(std::string_view action, int error) {
  failed_ = true;
  return io_error(action, target_, error);
}

}  // namespace soffit
