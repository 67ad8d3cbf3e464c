// What the translator refuses, and how it says so.
#include "lanes/translate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soffit::lanes {
namespace {

using testing::HasSubstr;

std::string refusal_of(std::string_view source) {
  const auto translation = translate(source, {Mode::checked, "test.metal", "library", {}});
  return translation ? "translated" : translation.error().message;
}

TEST(Translate, SourceThatEndsTooEarly) {
  EXPECT_THAT(refusal_of("struct Block { half d; }"), HasSubstr("test.metal:1:25: the source ends too early"));
  EXPECT_THAT(refusal_of("kernel void operator"), HasSubstr("the source ends too early"));
  EXPECT_THAT(refusal_of("kernel void f("), HasSubstr("'(' is never closed"));
}

TEST(Translate, HostNameWithoutAName) {
  EXPECT_THAT(refusal_of("[[host_name]] kernel void a() {}"), HasSubstr("host_name needs a name in quotes"));
  EXPECT_THAT(refusal_of("[[host_name(b)]] kernel void a() {}"), HasSubstr("host_name needs a name in quotes"));
}

TEST(Translate, MessagesCanBePrinted) {
  EXPECT_THAT(refusal_of("# 7 \"a\x01\xff.metal\"\nint a = `b`;"), HasSubstr("a\\x01\\xff.metal:7: "));
  EXPECT_THAT(refusal_of("# 7 \"a\x1b.metal\"\nkernel void f(double d) {}"), HasSubstr("a\\x1b.metal:7:"));
}

}  // namespace
}  // namespace soffit::lanes
