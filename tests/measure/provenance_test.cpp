// Where figures come from: every field is there, nothing private is, and another program has another hash.
#include "measure/provenance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "core/sha256.hpp"
#include "measure/system.hpp"
#include "provenance.hpp"

namespace soffit::measure {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using tool::Json;

constexpr const char* kHash = "[0-9a-f]{64}";

Json of_this_program() {
  const auto backend = create_backend("cpu", {});
  return tool::provenance(**backend);
}

void each_text(const Json& value, const std::function<void(const std::string&)>& f) {
  if (value.is_string()) f(value.get<std::string>());
  if (value.is_structured())
    for (const Json& member : value) each_text(member, f);
}

TEST(Provenance, HasEveryFieldOfTheContract) {
  const Json p = of_this_program();
  std::vector<std::string> names;
  for (const auto& [name, value] : p.items()) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("version", "commit", "dirty", "source_sha256", "executable_sha256",
                                          "libraries", "shaders", "compiler", "flags", "cpu", "isa", "threads",
                                          "affinity", "pages", "load", "device", "driver", "date"));
  EXPECT_THAT(p["source_sha256"], MatchesRegex(kHash));
  EXPECT_TRUE(p["commit"].is_null() || std::string(p["commit"]).size() == 40);
  EXPECT_EQ(p["commit"].is_null(), p["dirty"].is_null());
  EXPECT_THAT(p["compiler"], MatchesRegex("[A-Za-z]+ [0-9.]+"));
  EXPECT_THAT(p["date"], MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_GT(p["threads"].get<int>(), 0);
}

TEST(Provenance, HashesAreThoseOfTheFiles) {
  const Json p = of_this_program();
  EXPECT_EQ(p["executable_sha256"], *sha256_of_file("/proc/self/exe"));
  bool has_c_library = false;
  for (const Json& library : p["libraries"]) {
    EXPECT_THAT(library["sha256"], MatchesRegex(kHash)) << library;
    has_c_library = has_c_library || std::string(library["name"]).starts_with("libc.so");
  }
  EXPECT_TRUE(has_c_library) << p["libraries"];
}

TEST(Provenance, NamesNoDirectoryUserOrHost) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  const char* home = getenv("HOME");
  each_text(of_this_program(), [&](const std::string& text) {
    EXPECT_THAT(text, Not(testing::ContainsRegex("(^|[ =,;:])/[A-Za-z]"))) << "a path";
    if (home && std::string_view(home).size() > 1) {
      EXPECT_THAT(text, Not(HasSubstr(home)));
    }
    // The kernel's release, which somebody else named, may hold any word.
    if (std::string_view(host).size() > 3 && text != kernel_name()) {
      EXPECT_THAT(text, Not(HasSubstr(host)));
    }
  });
}

TEST(System, Ranges) {
  EXPECT_EQ(ranges(std::vector<int>{}), "");
  EXPECT_EQ(ranges(std::vector{3}), "3");
  EXPECT_EQ(ranges(std::vector{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(ranges(std::vector{1, 3, 5, 6}), "1,3,5-6");
}

TEST(System, SaysWhatTheMachineHas) {
  const MemoryState memory = memory_state();
  EXPECT_GT(memory.total, 0u);
  EXPECT_GT(memory.available, 0u);
  EXPECT_LE(memory.available, memory.total);
  EXPECT_THAT(page_sizes(), HasSubstr(std::to_string(sysconf(_SC_PAGESIZE))));
  EXPECT_FALSE(cpu_name().empty());
}

}  // namespace
}  // namespace soffit::measure
