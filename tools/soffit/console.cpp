#include "console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "command.hpp"
#include "core/escape.hpp"

namespace soffit::tool {
namespace {

constexpr size_t kBufferBytes = 1 << 16;

struct Stdout {
  std::string buffer;
  int error = 0;  // errno of the first write that failed
};

Stdout& standard_output() {
  static Stdout instance;
  return instance;
}

// Returns 0 or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(size_t(written));
  }
  return 0;
}

bool has_colours(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(descriptor) && !(no_color && *no_color) && !(term && std::strcmp(term, "dumb") == 0);
}

std::string apply(std::string_view text, Style style, bool colours) {
  if (!colours) return std::string(text);
  const char* code = "1";
  switch (style) {
    case Style::bold:
      code = "1";
      break;
    case Style::red:
      code = "31";
      break;
    case Style::yellow:
      code = "33";
      break;
    case Style::dim:
      code = "2";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void line_to_stderr(std::string_view line) { write_all(STDERR_FILENO, line); }

// Whatever a message has taken from a file or another program: only its newlines reach the terminal as they are.
std::string harmless(std::string_view text) {
  std::string result;
  for (;;) {
    const size_t end = text.find('\n');
    result += escaped(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

int exit_code(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::unsupported:
      return kUsage;
    case Code::cancelled:
      return kInterrupted;
    default:
      return kFailed;
  }
}

}  // namespace

void print(std::string_view text) {
  Stdout& out = standard_output();
  out.buffer += text;
  if (out.buffer.size() >= kBufferBytes) flush_stdout();
}

bool flush_stdout() {
  Stdout& out = standard_output();
  if (!out.error) out.error = write_all(STDOUT_FILENO, out.buffer);
  out.buffer.clear();
  return !out.error;
}

int close_stdout(int code) {
  if (flush_stdout()) return code;
  const int error = standard_output().error;
  if (error != EPIPE) {
    line_to_stderr(fmt::format("soffit: cannot write to standard output: {}\n", std::strerror(error)));
  }
  return code == kDone ? kFailed : code;
}

void note(std::string_view text) { line_to_stderr(fmt::format("{}\n", harmless(text))); }

void warn(std::string_view text) {
  line_to_stderr(fmt::format("soffit: {} {}\n", styled_stderr("warning:", Style::yellow), harmless(text)));
}

int fail(const Error& error) {
  line_to_stderr(fmt::format("soffit: {} {}\n", styled_stderr("error:", Style::red), harmless(error.message)));
  return exit_code(error.code);
}

int usage_error(std::string_view text) { return fail(invalid_argument(std::string(text))); }

std::string styled(std::string_view text, Style style) {
  static const bool colours = has_colours(STDOUT_FILENO);
  return apply(text, style, colours);
}

std::string styled_stderr(std::string_view text, Style style) {
  static const bool colours = has_colours(STDERR_FILENO);
  return apply(text, style, colours);
}

std::string printable(std::string_view text) { return escaped(text); }

}  // namespace soffit::tool
