#include "measure/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "core/concat.hpp"
#include "core/escape.hpp"
#include "measure/timer.hpp"

extern char** environ;

namespace soffit::measure {
namespace {

constexpr size_t kMostOut = 64 << 20, kErrorEnd = 4096;
constexpr int kPollMilliseconds = 50;
constexpr double kGraceSeconds = 2;  // between asking a child to end and ending it

class Descriptor {
 public:
  ~Descriptor() { close(); }
  int get() const { return value_; }
  void set(int value) { value_ = value; }
  void close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }

 private:
  int value_ = -1;
};

struct Pipe {
  Descriptor read, write;
  bool open() {
    std::array<int, 2> ends;
    if (pipe(ends.data()) != 0) return false;
    read.set(ends[0]), write.set(ends[1]);
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    return true;
  }
};

std::vector<std::string> environment_of(const CommandLine& command) {
  std::vector<std::string> list;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    bool replaced = false;
    for (const auto& set : command.environment) replaced = replaced || text.starts_with(set.first + "=");
    if (!replaced) list.emplace_back(text);
  }
  for (const auto& [name, value] : command.environment) list.push_back(name + "=" + value);
  return list;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

// Reads what is there. Closes the descriptor at its end.
void drain(Descriptor& from, std::string& to) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = read(from.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return from.close();
    to.append(buffer.data(), size_t(count));
  }
}

class Child {
 public:
  Child(pid_t pid, Descriptor& out, Descriptor& err) : pid_(pid), out_(out), err_(err) {
    for (const Descriptor* end : {&out_, &err_}) fcntl(end->get(), F_SETFL, O_NONBLOCK);
  }
  // Whatever the way out of run_child, nothing that it started goes on.
  ~Child() {
    kill(-pid_, SIGKILL);
    if (!ended_) waitpid(pid_, &status_, 0);
  }

  Status wait(const std::function<bool()>& keep_going, ChildResult& result) {
    while (!ended()) {
      if (keep_going && !keep_going()) return stop();
      look(result, kPollMilliseconds);
      if (result.out.size() > kMostOut) return Error{Code::io, concat("more than ", kMostOut >> 20, " MiB of output")};
    }
    look(result, 0);
    return {};
  }
  int status() const { return status_; }

 private:
  bool ended() { return ended_ = ended_ || waitpid(pid_, &status_, WNOHANG) == pid_; }

  void look(ChildResult& result, int milliseconds) {
    std::array<pollfd, 2> ends = {{{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}}};
    // A child that has closed both is about to end: its end is waited for in short steps.
    const bool open = out_.get() >= 0 || err_.get() >= 0;
    poll(ends.data(), ends.size(), open ? milliseconds : std::min(milliseconds, 1));
    if (ends[0].revents) drain(out_, result.out);
    if (ends[1].revents) drain(err_, result.err_end);
    if (result.err_end.size() > kErrorEnd) result.err_end.erase(0, result.err_end.size() - kErrorEnd);
  }

  Error stop() {
    kill(-pid_, SIGTERM);
    for (const double end = now_seconds() + kGraceSeconds; !ended() && now_seconds() < end;) usleep(5000);
    return {Code::cancelled, "interrupted"};
  }

  const pid_t pid_;
  Descriptor &out_, &err_;
  bool ended_ = false;
  int status_ = 0;
};

[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment, const char* directory,
                         int in, int out, int err) {
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  dup2(in, STDIN_FILENO), dup2(out, STDOUT_FILENO), dup2(err, STDERR_FILENO);
  signal(SIGINT, SIG_DFL), signal(SIGPIPE, SIG_DFL);
  if (!*directory || chdir(directory) == 0) execve(path, arguments, environment);
  const char* reason = strerror(errno);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, reason, strlen(reason));
  _exit(127);
}

std::string shown(const CommandLine& command) {
  std::string text;
  for (const std::string& word : command.words) text += concat(text.empty() ? "" : " ", word);
  return escaped(text, 200);
}

// The last lines, each indented, so that they are seen to be somebody else's.
std::string indented_end(const std::string& err) {
  std::string text;
  for (size_t begin = 0; begin < err.size();) {
    const size_t end = std::min(err.find('\n', begin), err.size());
    if (end > begin) text += concat("\n  ", escaped(err.substr(begin, end - begin), 500));
    begin = end + 1;
  }
  return text.empty() ? "; it wrote nothing to standard error" : concat("; the end of its standard error:", text);
}

}  // namespace

Result<ChildResult> run_child(const CommandLine& command, const ChildOptions& options) {
  const auto found = find_program(command, command.words.front());
  if (found.empty()) return unsupported(concat("there is no program '", escaped(command.words.front(), 200), "'"));
  const std::string path = std::filesystem::absolute(found).string(), directory = options.directory.string();
  const auto environment = environment_of(command);
  const auto words = pointers(command.words), variables = pointers(environment);
  Pipe out, err;
  Descriptor in;
  in.set(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (in.get() < 0 || !out.open() || !err.open())
    return Error{Code::io, concat("cannot run a program: ", strerror(errno))};

  ChildResult result;
  const double start = now_seconds();
  const pid_t pid = fork();
  if (pid < 0) return Error{Code::io, concat("cannot run a program: ", strerror(errno))};
  if (pid == 0)
    become(path.c_str(), words.data(), variables.data(), directory.c_str(), in.get(), out.write.get(), err.write.get());
  setpgid(pid, pid);  // here as well: whoever is first
  out.write.close(), err.write.close();
  Child child(pid, out.read, err.read);
  SOFFIT_CHECK(child.wait(options.keep_going, result));
  result.seconds = now_seconds() - start;
  const int status = child.status();
  if (WIFSIGNALED(status))
    return Error{Code::io,
                 concat(shown(command), ": ended by signal ", WTERMSIG(status), indented_end(result.err_end))};
  if (WEXITSTATUS(status) != 0)
    return Error{Code::io, concat(shown(command), ": exit code ", WEXITSTATUS(status), indented_end(result.err_end))};
  return result;
}

}  // namespace soffit::measure
