// What an emulated processor has is used, and what it lacks is refused and named. SOFFIT_EXPECTED_ISAS lists what it
// has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "soffit/backend.hpp"

namespace soffit::test {
namespace {

using testing::HasSubstr;

TEST(Processor, HasWhatIsExpectedAndLacksTheRest) {
  const char* list = std::getenv("SOFFIT_EXPECTED_ISAS");
  ASSERT_TRUE(list);
  std::istringstream words(list);
  const std::set<std::string> expected(std::istream_iterator<std::string>(words), {});
  ASSERT_FALSE(expected.empty());
  for (const char* name : {"scalar", "neon", "neon_dotprod", "avx2", "avx512"}) {
    BackendOptions options;
    options.isa = name;
    const auto backend = create_backend("cpu", options);
    ASSERT_EQ(bool(backend), expected.count(name)) << name;
    if (backend) {
      EXPECT_EQ((*backend)->isa(), name);
      continue;
    }
    const bool arm = std::string_view(name).starts_with("neon");
    EXPECT_THAT(backend.error().message,
                HasSubstr(arm ? "the processor lacks the dot product instructions" : "not an x86-64 processor"));
    for (const auto& there : expected) EXPECT_THAT(backend.error().message, HasSubstr(there)) << name;
  }
}

}  // namespace
}  // namespace soffit::test
