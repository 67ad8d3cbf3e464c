#include "program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

namespace soffit::test {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    read = ends[0], write = ends[1];
  }
  ~Pipe() { close_read(), close_write(); }
  void close_read() {
    if (read >= 0) close(std::exchange(read, -1));
  }
  void close_write() {
    if (write >= 0) close(std::exchange(write, -1));
  }
  int read, write;
};

[[noreturn]] void become_program(const std::vector<std::string>& arguments, const RunOptions& options, int in, int out,
                                 int err) {
  dup2(in, STDIN_FILENO), dup2(out, STDOUT_FILENO), dup2(err, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv = {const_cast<char*>("soffit")};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const rlimit limit = {options.address_space, options.address_space};
  if (options.address_space > 0 && setrlimit(RLIMIT_AS, &limit) != 0) _exit(127);
  if (options.no_huge_pages && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) _exit(127);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_DFL);
  execv(options.program.empty() ? SOFFIT_PROGRAM : options.program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

std::string program_path() { return SOFFIT_PROGRAM; }

Outcome run_program(const std::vector<std::string>& arguments, const RunOptions& options) {
  Pipe in, out, err;
  const int file = options.out_path.empty() ? -1 : open(options.out_path.c_str(), O_WRONLY | O_CLOEXEC);
  if (!options.out_path.empty() && file < 0) {
    ADD_FAILURE() << "cannot open " << options.out_path;
    return {};
  }
  if (options.close_reader) out.close_read();
  const pid_t child = fork();
  if (child == 0) become_program(arguments, options, in.read, file >= 0 ? file : out.write, err.write);
  in.close_read(), out.close_write(), err.close_write();
  if (file >= 0) close(file);
  const auto old_handler = signal(SIGPIPE, SIG_IGN);  // the program need not read its input

  Outcome run;
  using Clock = std::chrono::steady_clock;
  const auto signal_time = Clock::now() + options.signal_after;
  bool signal_left = options.signal != 0;
  std::string_view input = options.input;
  for (;;) {
    if (input.empty()) in.close_write();
    std::array<pollfd, 3> ends = {{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}, {in.write, POLLOUT, 0}}};
    if (out.read < 0 && err.read < 0) break;
    int wait = -1;
    if (signal_left) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(signal_time - Clock::now());
      wait = int(std::max<int64_t>(0, left.count()));
    }
    poll(ends.data(), ends.size(), wait);
    if (signal_left && Clock::now() >= signal_time) {
      kill(child, options.signal);
      signal_left = false;
    }
    const auto drain = [](const pollfd& end, std::string& text, Pipe& pipe) {
      if (!end.revents) return;
      char buffer[65536];
      const ssize_t count = read(end.fd, buffer, sizeof buffer);
      if (count > 0) return void(text.append(buffer, size_t(count)));
      pipe.close_read();
    };
    drain(ends[0], run.out, out);
    drain(ends[1], run.err, err);
    if (ends[2].revents) {
      const ssize_t count = write(in.write, input.data(), input.size());
      input.remove_prefix(count > 0 ? size_t(count) : input.size());
    }
  }
  signal(SIGPIPE, old_handler);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  EXPECT_NE(run.exit_code, 127) << "cannot start " << SOFFIT_PROGRAM;
  return run;
}

}  // namespace soffit::test
