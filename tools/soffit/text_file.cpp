#include "text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace soffit::tool {
namespace {

constexpr size_t kMostBytes = 1'000'000'000;

Error io_error(const char* action, const std::string& name, int error) {
  return {Code::io, std::string("cannot ") + action + " " + name + ": " + std::generic_category().message(error)};
}

Result<std::string> read_all(int descriptor, const std::string& name) {
  std::string text;
  for (char piece[1 << 16];;) {
    const ssize_t count = read(descriptor, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error("read", name, errno);
    if (count == 0) return text;
    text.append(piece, size_t(count));
    if (text.size() > kMostBytes) {
      return Error{Code::io, name + " has more than " + std::to_string(kMostBytes) + " bytes"};
    }
  }
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  const std::string name = "'" + path + "'";
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return io_error("open", name, errno);
  auto text = read_all(descriptor, name);
  close(descriptor);
  return text;
}

Result<std::string> read_standard_input() { return read_all(STDIN_FILENO, "standard input"); }

}  // namespace soffit::tool
