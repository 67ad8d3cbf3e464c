// Which code a command runs, told twice: by the files that the command gives, hashed before every run, and by the
// provenance that the program reports of itself. Both must stay what they were, and agree. What can go wrong otherwise:
// a build directory rebuilt between two rounds; a variable that names a library or shaders, and is not looked at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/command_line.hpp"
#include "measure/provenance.hpp"

namespace soffit::measure {

enum class FileKind { program, library };

// A file that a command gives. Programs: the first word, and later ones that name an executable file with a / in it, as
// in "taskset -c 0 build/soffit". Libraries, shaders too, known by their suffix (.so, .dylib, .metallib, .metal, .ptx,
// .cubin): in a word, in an option's or a variable's value, and in the directories that variables name.
struct CodeFile {
  std::string path;  // as given
  FileKind kind = FileKind::program;
  std::string directory;  // that a variable gives, and this file is in
  bool script = false;    // begins with #!
  std::string sha256;
};
Result<std::vector<CodeFile>> code_files(const CommandLine& command);
// What differs, as "build/soffit: sha256 was 12…, is 34…"; empty when nothing does.
std::string difference(std::span<const CodeFile> before, std::span<const CodeFile> after);

// Of a reported provenance, what says which code ran. Empty texts where the report does not say.
struct ReportedCode {
  std::string source_sha256, executable_sha256, compiler, flags, commit;
  std::vector<FileHash> libraries, shaders;
};
std::string difference(const ReportedCode& before, const ReportedCode& after);

// An error when a file that the command gives is not what the program says that it runs: a program that is none of
// those given, a library or shader that was not loaded. `unseen` becomes what cannot be told, for a warning.
Status given_is_loaded(const CommandLine& command, std::span<const CodeFile> given, const ReportedCode& reported,
                       std::string& unseen);

// Whether two arms run the same code: the same program, libraries and shaders, or others built alike from the same
// sources. Without a report of both: the same files given. Empty when they do not, else why they do.
std::string same_code(std::span<const CodeFile> given_a, const std::optional<ReportedCode>& a,
                      std::span<const CodeFile> given_b, const std::optional<ReportedCode>& b);

}  // namespace soffit::measure
