#include "measure/provenance.hpp"

#include <link.h>

#include <algorithm>
#include <filesystem>

#include "core/sha256.hpp"
#include "core/topology.hpp"
#include "measure/system.hpp"

namespace soffit::measure {
namespace {

std::string hash_or_nothing(const std::filesystem::path& path) {
  auto hash = sha256_of_file(path);
  return hash ? *std::move(hash) : std::string();
}

// The shared libraries that are loaded now; those that are no files, such as the kernel's vdso, are left out.
std::vector<FileHash> loaded_libraries() {
  std::vector<FileHash> list;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* to) {
        const std::filesystem::path path = object->dlpi_name ? object->dlpi_name : "";
        std::error_code error;
        if (!path.empty() && std::filesystem::is_regular_file(path, error))
          static_cast<std::vector<FileHash>*>(to)->push_back({path.filename().string(), hash_or_nothing(path)});
        return 0;
      },
      &list);
  std::ranges::sort(list, {}, &FileHash::name);
  return list;
}

struct Hashes {
  std::string executable;
  std::vector<FileHash> libraries;
};

const Hashes& hashes() {
  // The link names the file that runs even when another has taken its place on disk.
  static const Hashes kHashes = {hash_or_nothing("/proc/self/exe"), loaded_libraries()};
  return kHashes;
}

}  // namespace

Provenance provenance(const BuildStamp& build, const Backend& backend) {
  Provenance p;
  p.build = build;
  p.executable_sha256 = hashes().executable;
  p.libraries = hashes().libraries;
  p.cpu = cpu_name();
  p.isa = std::string(backend.isa());
  p.threads = backend.threads();
  p.affinity = ranges(allowed_processors());
  p.pages = page_sizes();
  p.load = load_averages();
  p.device = p.cpu;
  p.driver = kernel_name();
  p.date = date_utc();
  return p;
}

}  // namespace soffit::measure
