#include "lanes/compile.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/concat.hpp"
#include "lanes/embedded.hpp"

extern char** environ;

namespace soffit::lanes {
namespace fs = std::filesystem;
namespace {

Error io_error(std::string message) { return {Code::io, std::move(message)}; }

// A directory that goes when this goes.
class ScratchDirectory {
 public:
  static Result<ScratchDirectory> create() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "soffit-lanes-XXXXXX").string();
    if (error || !mkdtemp(name.data())) return io_error(concat("no temporary directory: ", std::strerror(errno)));
    return ScratchDirectory(name);
  }
  ScratchDirectory(ScratchDirectory&& from) noexcept : path_(std::exchange(from.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit ScratchDirectory(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

Status write_file(const fs::path& path, std::string_view contents) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(contents.data(), std::streamsize(contents.size()));
  out.close();
  if (!out) return io_error(concat(path.string(), ": cannot be written"));
  return {};
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Runs the command with its messages in the file; its exit code.
Result<int> run_command(const std::vector<std::string>& command, const fs::path& messages) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) return io_error(concat(command[0], ": ", std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return io_error(concat(command[0], ": ", std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<std::string> compiler(const ScratchDirectory& scratch) {
  const char* chosen = std::getenv("CXX");
  if (chosen && *chosen) return std::string(chosen);
  for (const char* name : {"c++", "g++", "clang++"}) {
    const auto exit_code = run_command({name, "--version"}, scratch.path() / "version.txt");
    if (exit_code && *exit_code == 0) return std::string(name);
  }
  return unsupported(
      "a C++ compiler is needed to run a kernel of one's own (Debian's package g++), and none of c++, g++ and clang++ "
      "is on the path; CXX names another");
}

// Of a compiler's messages the errors, without the paths of this compilation.
Error compilation_error(const fs::path& messages, const fs::path& scratch, std::string_view what) {
  std::string text = read_file(messages), shown;
  for (const std::string& path : {scratch.string() + "/shim/", scratch.string() + "/"}) {
    for (size_t at = 0; (at = text.find(path, at)) != std::string::npos;) text.erase(at, path.size());
  }
  constexpr int kShown = 12;
  int lines = 0;
  for (size_t at = 0; at < text.size() && lines < kShown;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.find("error:") != std::string_view::npos || line.find("required from here") != std::string_view::npos) {
      (shown += '\n') += line;
      ++lines;
    }
    at = end + 1;
  }
  return invalid_argument(concat(what, shown.empty() ? concat("\n", std::string_view(text).substr(0, 1000)) : shown));
}

constexpr const char* kSymbol = "soffit_metal_user";

}  // namespace

LoadedLibrary::LoadedLibrary(LoadedLibrary&& from) noexcept { *this = std::move(from); }
LoadedLibrary& LoadedLibrary::operator=(LoadedLibrary&& from) noexcept {
  std::swap(handle_, from.handle_);
  std::swap(library_, from.library_);
  std::swap(remarks_, from.remarks_);
  return *this;
}
LoadedLibrary::~LoadedLibrary() {
  if (handle_) dlclose(handle_);
}

Result<LoadedLibrary> compile(const fs::path& source, Mode mode, const std::vector<Instantiation>& instantiations) {
  std::error_code error;
  if (!fs::is_regular_file(source, error)) return io_error(concat(source.string(), ": no such file"));
  SOFFIT_TRY(const ScratchDirectory scratch, ScratchDirectory::create());
  const fs::path& root = scratch.path();
  for (unsigned i = 0; i < kEmbeddedFileCount; ++i) {
    SOFFIT_CHECK(write_file(root / kEmbeddedFiles[i].name, kEmbeddedFiles[i].contents));
  }
  SOFFIT_TRY(const std::string cxx, compiler(scratch));
  const fs::path messages = root / "messages.txt", preprocessed = root / "kernel.ii", translated = root / "kernel.cpp",
                 object = root / "kernel.so";
  const fs::path directory = source.has_parent_path() ? source.parent_path() : fs::path(".");

  SOFFIT_TRY(int exit_code, run_command({cxx, "-E", "-x", "c++", "-undef", "-nostdinc", "-nostdinc++", "-D__METAL__=1",
                                         "-D__METAL_VERSION__=310", "-I", (root / "metal").string(), "-I",
                                         directory.string(), source.string(), "-o", preprocessed.string()},
                                        messages));
  if (exit_code != 0) return compilation_error(messages, root, concat(source.string(), ": the preprocessor fails"));

  TranslationRequest request;
  request.mode = mode;
  request.source_name = source.string();
  request.library_symbol = kSymbol;
  request.instantiations = instantiations;
  std::vector<std::string> remarks;
  request.remarks = &remarks;
  SOFFIT_TRY(const std::string text, translate(read_file(preprocessed), request));
  SOFFIT_CHECK(write_file(translated, text));

  SOFFIT_TRY(exit_code, run_command({cxx, "-std=c++20", mode == Mode::checked ? "-O1" : "-O2", "-w", "-fPIC", "-shared",
                                     "-fno-strict-aliasing", "-fwrapv", "-ffp-contract=off", "-I", root.string(), "-I",
                                     (root / "shim").string(), translated.string(), "-o", object.string()},
                                    messages));
  if (exit_code != 0) return compilation_error(messages, root, concat(source.string(), ": does not compile"));

  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return io_error(concat(source.string(), ": cannot be loaded: ", dlerror()));
  const auto get = reinterpret_cast<const Library* (*)()>(dlsym(handle, kSymbol));
  if (!get) {
    dlclose(handle);
    return Error{Code::internal, concat(source.string(), ": the compiled kernel has no symbol ", kSymbol)};
  }
  return LoadedLibrary(handle, get(), std::move(remarks));
}

}  // namespace soffit::lanes
