// Results: what a temporary one gives is a value of its own.
#include "soffit/status.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace soffit::test {
namespace {

using Numbers = std::vector<int>;
static_assert(std::is_same_v<decltype(*std::declval<Result<Numbers>>()), Numbers>);
static_assert(std::is_same_v<decltype(std::declval<Result<Numbers>>().error()), Error>);
static_assert(std::is_same_v<decltype(std::declval<Status>().error()), Error>);
static_assert(std::is_same_v<decltype(*std::declval<Result<Numbers>&>()), Numbers&>);
static_assert(std::is_same_v<decltype(*std::declval<const Result<Numbers>&>()), const Numbers&>);

// On the heap, so that a sanitizer sees a read of what is gone.
Result<Numbers> numbers(int count) {
  if (count < 0) return invalid_argument("a count of " + std::to_string(count) + ", which cannot be, in a long text");
  Numbers list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), 1);
  return list;
}

TEST(Result, OfATemporaryIsWalkedThrough) {
  int sum = 0;
  for (const int& x : *numbers(1000)) sum += x;
  EXPECT_EQ(sum, 500500);
  size_t letters = 0;
  for (const char& c : numbers(-1).error().message) letters += c != ' ';
  EXPECT_EQ(letters, 36u);
}

TEST(Result, MovesWhatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto twice = [&]() -> Result<int> {
    SOFFIT_TRY(const std::unique_ptr<int> number, make());
    return 2 * *number;
  };
  EXPECT_EQ(**make(), 7);
  EXPECT_EQ(*twice(), 14);
}

TEST(Result, ErrorsPassThrough) {
  const auto sum = [](int count) -> Result<int> {
    SOFFIT_TRY(const Numbers list, numbers(count));
    return std::accumulate(list.begin(), list.end(), 0);
  };
  const auto check = [&](int count) -> Status {
    SOFFIT_CHECK(sum(count));
    return {};
  };
  EXPECT_TRUE(check(3));
  ASSERT_FALSE(check(-5));
  EXPECT_EQ(check(-5).error().code, Code::invalid_argument);
  EXPECT_NE(check(-5).error().message.find("-5"), std::string::npos);
}

}  // namespace
}  // namespace soffit::test
