#include "text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace soffit::tool {
namespace {

constexpr size_t kMostBytes = 1'000'000'000;

Error io_error(const char* action, const std::string& path, int error) {
  return {Code::io, std::string("cannot ") + action + " '" + path + "': " + std::generic_category().message(error)};
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return io_error("open", path, errno);
  std::string text;
  for (char piece[1 << 16];;) {
    const ssize_t count = read(descriptor, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = errno;
      close(descriptor);
      if (count < 0) return io_error("read", path, error);
      return text;
    }
    text.append(piece, size_t(count));
    if (text.size() > kMostBytes) {
      close(descriptor);
      return Error{Code::io, "'" + path + "' has more than " + std::to_string(kMostBytes) + " bytes"};
    }
  }
}

}  // namespace soffit::tool
