// Which parts of the source may include which: HACKING.md, the map of the house. A model knows operations, files and
// text, and nothing of any machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<std::string> quoted_includes(const fs::path& file) {
  std::vector<std::string> names;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line.compare(hash, 8, "#include") != 0) continue;
    const auto begin = line.find('"'), end = line.rfind('"');
    if (begin != std::string::npos && end > begin) names.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return names;
}

TEST(Layers, IncludeOnlyWhatLiesBelowThem) {
  // The public headers, under soffit/, are everyone's.
  const std::map<std::string, std::vector<std::string>> may_include = {
      {"core", {}},
      {"formats", {"core"}},
      {"gguf", {"core"}},
      {"text", {"core"}},
      {"ops", {"core"}},
      {"cpu", {"core", "formats", "ops"}},
      {"model", {"core", "text"}},
      {"check", {"core", "formats"}},
      {"convert", {"core"}},
      {"c_api", {"core"}},
  };
  for (const auto& [part, others] : may_include) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOFFIT_SOURCE_DIR) / part)) {
      const auto extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp" && extension != ".h") continue;
      ++files;
      for (const auto& name : quoted_includes(entry.path())) {
        const auto from = name.substr(0, name.find('/'));
        const bool allowed = from == "soffit" || from == part || std::ranges::count(others, from) != 0;
        EXPECT_TRUE(allowed) << entry.path() << " includes \"" << name << "\"";
      }
    }
    EXPECT_GT(files, 0) << part;
  }
}

}  // namespace
