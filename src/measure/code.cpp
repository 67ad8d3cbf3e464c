#include "measure/code.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "core/concat.hpp"
#include "core/escape.hpp"
#include "core/sha256.hpp"

namespace soffit::measure {
namespace {

namespace fs = std::filesystem;

bool is_library(const fs::path& path) {
  static constexpr std::array<std::string_view, 6> kSuffixes = {".so",    ".dylib", ".metallib",
                                                                ".metal", ".ptx",   ".cubin"};
  const std::string name = path.filename().string();
  if (name.find(".so.") != std::string::npos) return true;
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

bool is_script(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == '#' && file.get() == '!';
}

std::string brief(const std::string& sha256) {
  if (sha256.empty()) return "nothing";
  return sha256.size() > 12 ? sha256.substr(0, 12) + "…" : sha256;
}

class Collector {
 public:
  Status program(const fs::path& path) { return add(path, FileKind::program, ""); }

  // A library, or else nothing.
  Status library(const std::string& path) {
    std::error_code error;
    if (is_library(path) && fs::is_regular_file(path, error)) return add(path, FileKind::library, "");
    return {};
  }

  // Paths separated by colons: libraries, and directories that have some.
  Status variable(const std::string& value) {
    for (size_t begin = 0; begin < value.size();) {
      const size_t end = std::min(value.find(':', begin), value.size());
      const std::string path = value.substr(begin, end - begin);
      std::error_code error;
      if (path.find('/') != std::string::npos && fs::is_directory(path, error)) {
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(path, error)) {
          if (is_library(entry.path()) && entry.is_regular_file(error)) files.push_back(entry.path());
        }
        std::ranges::sort(files);
        for (const fs::path& file : files) SOFFIT_CHECK(add(file, FileKind::library, path));
      } else {
        SOFFIT_CHECK(library(path));
      }
      begin = end + 1;
    }
    return {};
  }

  std::vector<CodeFile> take() { return std::move(files_); }

 private:
  Status add(const fs::path& path, FileKind kind, const std::string& directory) {
    SOFFIT_TRY(std::string sha256, sha256_of_file(path));
    files_.push_back({path.string(), kind, directory, kind == FileKind::program && is_script(path), std::move(sha256)});
    return {};
  }

  std::vector<CodeFile> files_;
};

using HashSet = std::set<std::pair<std::string, std::string>>;  // name, hash

HashSet set_of(const std::vector<FileHash>& files) {
  HashSet set;
  for (const FileHash& file : files) set.emplace(file.name, file.sha256);
  return set;
}

std::string changed(std::string_view what, const std::string& before, const std::string& after) {
  return concat(escaped(what, 300), ": sha256 was ", brief(before), ", is ", brief(after));
}

std::string difference(const std::vector<FileHash>& before, const std::vector<FileHash>& after) {
  const HashSet old = set_of(before), now = set_of(after);
  const auto hash_in = [](const HashSet& set, const std::string& name) {
    const auto found = set.lower_bound({name, ""});
    return found != set.end() && found->first == name ? found->second : std::string();
  };
  for (const auto& [name, sha256] : old) {
    if (!now.contains({name, sha256})) return changed(name, sha256, hash_in(now, name));
  }
  for (const auto& [name, sha256] : now) {
    if (!old.contains({name, sha256})) return changed(name, hash_in(old, name), sha256);
  }
  return "";
}

// Whether the reported executable is a program that the command gives, by whatever name.
bool gives_executable(const CommandLine& command, std::span<const CodeFile> given, const std::string& sha256) {
  const auto is_it = [&](const CodeFile& file) { return file.kind == FileKind::program && file.sha256 == sha256; };
  if (std::ranges::any_of(given, is_it)) return true;
  // A launcher's argument without a /, found on the PATH: "taskset -c 0 soffit".
  return std::ranges::any_of(command.words, [&](const std::string& word) {
    const fs::path path = find_program(command, word);
    if (path.empty()) return false;
    const auto hash = sha256_of_file(path);
    return hash && *hash == sha256;
  });
}

std::string programs_of(std::span<const CodeFile> given) {
  std::string text;
  for (const CodeFile& file : given) {
    if (file.kind == FileKind::program)
      text += concat(text.empty() ? "" : ", ", escaped(file.path, 300), " (", brief(file.sha256), ")");
  }
  return text;
}

}  // namespace

Result<std::vector<CodeFile>> code_files(const CommandLine& command) {
  Collector collector;
  const fs::path program = find_program(command, command.words.front());
  if (program.empty()) return unsupported(concat("there is no program '", escaped(command.words.front(), 300), "'"));
  SOFFIT_CHECK(collector.program(program));
  for (size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i];
    const std::string value = word.substr(word.starts_with('-') ? word.find('=') + 1 : 0);
    if (is_library(value)) {
      SOFFIT_CHECK(collector.library(value));
    } else if (value.find('/') != std::string::npos && !find_program(command, value).empty()) {
      SOFFIT_CHECK(collector.program(value));
    }
  }
  for (const auto& [name, value] : command.environment) SOFFIT_CHECK(collector.variable(value));
  return collector.take();
}

std::string difference(std::span<const CodeFile> before, std::span<const CodeFile> after) {
  std::vector<FileHash> old, now;
  for (const CodeFile& file : before) old.push_back({file.path, file.sha256});
  for (const CodeFile& file : after) now.push_back({file.path, file.sha256});
  return difference(old, now);
}

std::string difference(const ReportedCode& before, const ReportedCode& after) {
  if (before.executable_sha256 != after.executable_sha256)
    return changed("the program that ran", before.executable_sha256, after.executable_sha256);
  if (before.source_sha256 != after.source_sha256)
    return changed("the sources it was built from", before.source_sha256, after.source_sha256);
  std::string text = difference(before.libraries, after.libraries);
  return text.empty() ? difference(before.shaders, after.shaders) : text;
}

Status given_is_loaded(const CommandLine& command, std::span<const CodeFile> given, const ReportedCode& reported,
                       std::string& unseen) {
  const std::string& executable = reported.executable_sha256;
  if (!executable.empty() && !gives_executable(command, given, executable)) {
    const bool script = std::ranges::any_of(given, &CodeFile::script);
    if (!script)
      return Error{Code::io, concat("the command gives ", programs_of(given), ", but what ran is another program (",
                                    brief(executable), "): name the program itself in the command")};
    unseen = concat(escaped(given.front().path, 300),
                    " is a script: which program it starts is known from that program's report alone");
  }
  std::set<std::string> loaded;
  for (const auto* list : {&reported.libraries, &reported.shaders})
    for (const FileHash& file : *list) loaded.insert(file.sha256);
  const auto reported_as = [&](const std::string& name) -> const FileHash* {
    for (const auto* list : {&reported.libraries, &reported.shaders})
      for (const FileHash& file : *list)
        if (file.name == name) return &file;
    return nullptr;
  };

  std::set<std::string> directories, used;
  for (const CodeFile& file : given) {
    if (file.kind != FileKind::library) continue;
    const bool is_loaded = loaded.contains(file.sha256);
    if (!file.directory.empty()) {
      directories.insert(file.directory);
      if (is_loaded) used.insert(file.directory);
    }
    const FileHash* other = reported_as(fs::path(file.path).filename().string());
    // Of a directory, not every file need be loaded, but none from elsewhere in its place.
    if (!is_loaded && (file.directory.empty() || other))
      return Error{Code::io, concat("the command gives ", escaped(file.path, 300), " (", brief(file.sha256),
                                    "), but what ran has loaded ",
                                    other ? concat("another ", other->name, " (", brief(other->sha256), ")")
                                          : std::string("no such file"))};
  }
  for (const std::string& directory : directories) {
    if (!used.contains(directory))
      return Error{Code::io, concat("the command gives the directory ", escaped(directory, 300),
                                    ", but what ran has loaded nothing from it")};
  }
  return {};
}

std::string same_code(std::span<const CodeFile> given_a, const std::optional<ReportedCode>& a,
                      std::span<const CodeFile> given_b, const std::optional<ReportedCode>& b) {
  if (a && b && !a->executable_sha256.empty() && !b->executable_sha256.empty()) {
    const bool shaders = set_of(a->shaders) == set_of(b->shaders);
    if (a->executable_sha256 == b->executable_sha256) {
      const bool same = shaders && set_of(a->libraries) == set_of(b->libraries);
      return same ? concat("the same program (", brief(a->executable_sha256), "), libraries and shaders") : "";
    }
    const bool same = shaders && !a->source_sha256.empty() && a->source_sha256 == b->source_sha256 &&
                      a->compiler == b->compiler && a->flags == b->flags;
    return same ? concat("two builds of the same sources (", brief(a->source_sha256), ") with the same flags") : "";
  }
  const auto hashes = [](std::span<const CodeFile> files) {
    std::set<std::string> set;
    for (const CodeFile& file : files) set.insert(file.sha256);
    return set;
  };
  return hashes(given_a) == hashes(given_b) ? concat("the same files given: ", programs_of(given_a)) : "";
}

}  // namespace soffit::measure
