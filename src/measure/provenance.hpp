// Where a figure comes from: which sources, which program, which machine, in which state. Two runs can be compared only
// when one can say what was different. Nothing in it names a person, a host or a directory.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soffit/backend.hpp"

namespace soffit::measure {

// What only the build knows; see cmake/soffit_build_stamp.cmake. A program links the stamp of its own build.
struct BuildStamp {
  std::string_view version;
  std::string_view commit;    // empty outside a git checkout
  std::optional<bool> dirty;  // the sources are not those of the commit
  std::string_view source_sha256;
  std::string_view compiler;  // "GNU 12.2.0"
  std::string_view flags;     // without paths
};
const BuildStamp& build_stamp();

struct FileHash {
  std::string name;  // without directories
  std::string sha256;
};

// Fields are empty where this system does not say.
struct Provenance {
  BuildStamp build;
  std::string executable_sha256;    // of the running program
  std::vector<FileHash> libraries;  // shared libraries loaded into it, by name
  std::vector<FileHash> shaders;    // none on a CPU
  std::string cpu, isa;
  int threads = 0;
  std::string affinity;                       // "0-3,8"
  std::string pages;                          // "4096 B; transparent huge pages: madvise, 93 % of anonymous memory"
  std::optional<std::array<double, 3>> load;  // averages of 1, 5, 15 minutes
  std::string device, driver;
  std::string date;  // "2027-03-01T12:00:00Z"
};

// Hashes the program and its libraries, which takes some milliseconds; the hashes are taken once and kept.
Provenance provenance(const BuildStamp& build, const Backend& backend);

}  // namespace soffit::measure
