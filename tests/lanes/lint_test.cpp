// What the translator refuses because Apple's compiler would: each rule with a source that breaks it, at its line, and
// one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanes/translate.hpp"

namespace soffit::lanes {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kKernel = "kernel void k(device float* y [[buffer(0)]]) {\n";

struct Rule {
  const char* name;
  const char* before;  // at namespace scope, from line 1 on, each in a line of its own
  const char* body;    // of a kernel, in the line behind its head
  const char* where;   // line and column; empty when nothing is wrong
  const char* message;
};

std::string source(const Rule& rule) { return std::string(rule.before) + std::string(kKernel) + rule.body + "\n}\n"; }

Result<std::string> translated(const std::string& text, std::vector<std::string>* remarks = nullptr) {
  TranslationRequest request;
  request.mode = Mode::checked;
  request.source_name = "a.metal";
  request.library_symbol = "library";
  request.remarks = remarks;
  return translate(text, request);
}

class Lint : public testing::TestWithParam<Rule> {};

TEST_P(Lint, RefusesWhatMetalDoes) {
  const Rule& rule = GetParam();
  const auto result = translated(source(rule));
  if (*rule.where == 0) {
    EXPECT_TRUE(result) << result.error().message;
    return;
  }
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, StartsWith(std::string("a.metal:") + rule.where + ": "));
  EXPECT_THAT(result.error().message, HasSubstr(rule.message));
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);  // once
}

#define REFUSED(name, before, body, where, message) \
  Rule { #name "_refused", before, body, where, message }
#define FINE(name, before, body) \
  Rule { #name "_fine", before, body, "", "" }

INSTANTIATE_TEST_SUITE_P(
    Rules, Lint,
    testing::Values(
        REFUSED(double, "", "double z = 1.0f; y[0] = z;", "2:1", "Metal has no double"),
        FINE(double, "", "float doubled = 2.0f; y[0] = doubled;"),
        REFUSED(long_long, "", "long long z = 1; y[0] = z;", "2:1", "'long long': Metal has none"),
        FINE(long_long, "", "long z = 1; unsigned long u = 2; y[z] = u;"),
        REFUSED(std, "", "y[0] = std::min(1.0f, y[1]);", "2:8", "Metal has no std"),
        FINE(std, "", "y[0] = metal::min(1.0f, y[1]);"),
        REFUSED(new, "", "device float* z = new float[4];", "2:19", "Metal has no new"),
        FINE(new, "", "float news[4]; news[0] = 1.0f; y[0] = news[0];"),
        REFUSED(delete, "", "delete y;", "2:1", "Metal has no delete"),
        FINE(delete, "struct S { float deleted; };\n", "S s; s.deleted = 1.0f; y[0] = s.deleted;"),
        REFUSED(throw, "", "if (y[0] > 1.0f) throw 1;", "2:18", "Metal has no exceptions"),
        REFUSED(try, "", "try { y[0] = 1.0f; }", "2:1", "Metal has no exceptions"),
        FINE(throw, "", "if (y[0] > 1.0f) return;"),
        REFUSED(virtual, "struct S {\nvirtual float f() { return 1.0f; }\n};\n", "", "2:1", "no virtual functions"),
        FINE(virtual, "struct S {\nfloat f() { return 1.0f; }\n};\n", "S s; y[0] = s.f();"),
        REFUSED(goto, "", "goto end; end: y[0] = 1.0f;", "2:1", "Metal has no goto"),
        FINE(goto, "", "for (int i = 0; i < 3; ++i) { if (i == 1) continue; y[i] = 1.0f; }"),
        REFUSED(register, "", "register float z = 1.0f; y[0] = z;", "2:1", "Metal has no register"),
        FINE(register, "", "float registers = 1.0f; y[0] = registers;"),
        REFUSED(lambda, "", "auto f = [](float a) { return a; }; y[0] = f(1.0f);", "2:10", "lambdas are not known"),
        FINE(lambda, "inline float f(float a) { return a; }\n", "y[0] = f(1.0f);"),
        REFUSED(recursion, "inline float f(float a) {\nreturn a > 1.0f ? f(a - 1.0f) : a;\n}\n", "y[0] = f(3.0f);",
                "2:19", "'f' calls itself: Metal has no recursion"),
        FINE(recursion,
             "inline float f(float a, float b) { return a + b; }\n"
             "inline float f(float a) { return f(a, 1.0f); }\n",  // an overload
             "y[0] = f(3.0f);"),
        REFUSED(mutual_recursion,
                "float g(float a);\ninline float f(float a) { return a > 1.0f ? g(a - 1.0f) : a; }\n"
                "float g(float a) {\nreturn f(a);\n}\n",
                "y[0] = f(3.0f);", "4:8", "calls itself by way of others"),
        FINE(mutual_recursion,
             "inline float g(float a) { return a; }\ninline float f(float a) { return g(a) + g(a); }\n",
             "y[0] = f(g(3.0f));"),
        REFUSED(pointer, "", "float* z = y; z[0] = 1.0f;", "2:1", "a pointer without an address space"),
        REFUSED(pointer_parameter, "inline float f(const float* a) { return a[0]; }\n", "y[0] = f(y);", "1:16",
                "a pointer without an address space"),
        REFUSED(reference, "inline void f(float& a) { a = 1.0f; }\n", "float z; f(z); y[0] = z;", "1:15",
                "a reference without an address space"),
        REFUSED(pointer_cast, "", "y[0] = ((const float*)y)[1];", "2:10", "a pointer without an address space"),
        REFUSED(pointer_member, "struct S {\nfloat* at;\n};\n", "", "2:1", "a pointer without an address space"),
        FINE(pointer, "struct S {\ndevice float* at;\n};\ninline void f(thread float& a) { a = 1.0f; }\n",
             "device float* z = y; float u; f(u); z[0] = u * ((device const float*)y)[1]; auto w = z; w[1] = 2.0f;"),
        FINE(product, "", "float a = 1.0f, b = 2.0f; int i = 3 & 1; y[i] = a * b;"),
        REFUSED(kernel_pointer, "kernel void j(thread float* z [[buffer(0)]]) { z[0] = 1.0f; }\n", "", "1:15",
                "a kernel's arguments are in device, constant or threadgroup memory"),
        FINE(kernel_pointer,
             "kernel void j(constant float& z [[buffer(0)]], device float* u [[buffer(1)]]) { u[0] = z; }\n", ""),
        REFUSED(kernel_result, "kernel float j(device float* z [[buffer(0)]]) { return z[0]; }\n", "", "1:14",
                "has to return void"),
        REFUSED(threadgroup_variable, "inline void f() {\nthreadgroup float t[4];\nt[0] = 1.0f;\n}\n", "f();", "2:1",
                "has to stand in a kernel"),
        FINE(threadgroup_variable, "inline void f(threadgroup float* t) { t[0] = 1.0f; }\n",
             "threadgroup float t[4]; f(t); y[0] = t[0];"),
        REFUSED(static_variable, "", "static float z = 1.0f; y[0] = z;", "2:1", "no static variables in functions"),
        FINE(static_variable, "", "static constexpr float z = 1.0f; y[0] = z;"),
        REFUSED(constant_variable, "", "constant float z = 1.0f; y[0] = z;", "2:1", "namespace scope"),
        FINE(constant_variable, "constant float z = 1.0f;\n", "constant const float* p = &z; y[0] = *p;"),
        REFUSED(global_variable, "float z = 1.0f;\n", "y[0] = z;", "1:1", "constant address space")),
    [](const auto& info) { return std::string(info.param.name); });

// Metal takes them, as floats; C++ would make doubles of them.
TEST(Lint, RemarksOnLiteralsWithoutSuffix) {
  const auto remarks = [](const std::string& body) {
    std::vector<std::string> list;
    EXPECT_TRUE(translated(source({"", "", body.c_str(), "", ""}), &list));
    return list;
  };
  const auto found = remarks("half h = 2.0h;\ny[0] = h * 1.5 + 1e-3;");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0], StartsWith("a.metal:3:12: '1.5' has no suffix"));
  EXPECT_THAT(found[1], StartsWith("a.metal:3:18: '1e-3' has no suffix"));
  EXPECT_TRUE(remarks("half h = 2.0h; y[0] = h * 1.5f + 1e-3f + 0x1p-3f; int i = 3; y[i] = 0x1e;").empty());
}

}  // namespace
}  // namespace soffit::lanes
