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

TEST(Translate, ForCuda) {
  const auto translation = translate(R"(
constant uint rows [[function_constant(3)]];
constant uint twice = 2 * rows;
inline float doubled(float x) { return 2.0f * x; }
kernel void f(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float shared[32];
  shared[i] = doubled(y[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = shared[31 - i] * twice;
})",
                                     {Mode::cuda, "test.metal", "library", {}});
  ASSERT_TRUE(translation) << translation.error().message;
  for (const char* part :
       {"#include \"lanes/shim/cuda.h\"", "static __device__ NativeConstant<uint > rows{}",
        "static __device__ NativeConstant<uint > twice{}", "__device__ \nmsl_float doubled ( msl_float x )",
        "__shared__ alignas(16) msl_float shared[ 32 ] ;",
        "static __global__ __launch_bounds__(1024) void run0(const ::soffit::lanes::GridArguments arguments)",
        "rows_is_defined = settings.defined[0];", "twice = 2 * rows", "{\"rows\", 3 , false}",
        "const ::soffit::lanes::CudaLibrary* library()"}) {
    EXPECT_THAT(*translation, HasSubstr(part));
  }
}

}  // namespace
}  // namespace soffit::lanes
