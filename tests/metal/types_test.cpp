// The second front end: every kernel through clang as C++ for OpenCL, which knows address spaces as Metal has them, and
// through the translator's remarks. And what it has to refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lanes/opencl.hpp"
#include "lanes/translate.hpp"

namespace soffit::lanes {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const std::string kSource = SOFFIT_SOURCE_DIR "/src", kClang = SOFFIT_CLANG;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class MetalTypes : public testing::Test {
 protected:
  void SetUp() override {
    if (kClang.empty()) GTEST_SKIP() << "no clang to check types and address spaces with";
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  // False when the command fails; its messages are in messages().
  bool run(const std::string& command) const {
    const int status = std::system((command + " > '" + path("messages") + "' 2>&1").c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  std::string messages() const { return contents(path("messages")); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::string preprocessed(const std::string& file) const {
    EXPECT_TRUE(run("'" + kClang +
                    "' -E -x c++ -undef -nostdinc -nostdinc++ -D__METAL__=1 -D__METAL_VERSION__=310 -I '" + kSource +
                    "' -I '" + kSource + "/lanes/metal' '" + file + "' -o '" + path("a.ii") + "'"))
        << messages();
    return contents(path("a.ii"));
  }
  // clang's errors; empty when there are none.
  std::string errors(const std::string& file) const { return errors(file, preprocessed(file)); }
  std::string errors(const std::string& file, const std::string& source) const {
    const auto text = to_opencl(source, file);
    if (!text) return text.error().message;
    std::ofstream(path("a.clcpp"), std::ios::binary) << *text;
    // No double, no OpenCL library: metal.h has Metal's. The target is one that has address spaces.
    const bool fine =
        run("'" + kClang + "' -x clcpp -cl-std=clc++1.0 -cl-no-stdinc -target spir64 -fsyntax-only -I '" + kSource +
            "/lanes' -Xclang -cl-ext=-all,+cl_khr_fp16 -Wall -Wno-unused -Wno-null-dereference " + "-Werror '" +
            path("a.clcpp") + "'");
    return fine ? "" : messages();
  }
  // Of a kernel with this body and what is before it.
  std::string errors_of(const std::string& before, const std::string& body) const {
    const std::string file = path("a.metal");
    std::ofstream(file, std::ios::binary)
        << "#include <metal_stdlib>\nusing namespace metal;\n"
        << before
        << "kernel void k(device float* y [[buffer(0)]], device const float* x "
           "[[buffer(1)]], constant float& c [[buffer(2)]],\n"
        << "threadgroup float* t [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {\n"
        << body << "\n}\n";
    return errors(file);
  }

  const fs::path directory_ = fs::path(testing::TempDir()) /
                              ("types_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(MetalTypes, OfEveryKernel) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(kSource + "/metal")) {
    if (entry.path().extension() != ".metal") continue;
    SCOPED_TRACE(entry.path().filename());
    ++count;
    const std::string source = preprocessed(entry.path().string());
    EXPECT_EQ(errors(entry.path().string(), source), "");
    std::vector<std::string> remarks;
    TranslationRequest request;
    request.source_name = entry.path().filename().string();
    request.library_symbol = "library";
    request.remarks = &remarks;
    const auto translation = translate(source, request);
    EXPECT_TRUE(translation) << translation.error().message;
    EXPECT_THAT(remarks, testing::IsEmpty());
  }
  EXPECT_GE(count, 47u);
}

TEST_F(MetalTypes, NothingIsWrongWithWhatIsRight) {
  EXPECT_EQ(errors_of("constant float kTable[2] = {1.0f, 2.0f};\nconstant ushort kRows [[function_constant(0)]];\n"
                      "struct Pair {\nfloat a, b;\nfloat sum() const { return a + b; }\n};\n"
                      "template <typename T>\ninline float first(T from) { return float(from[0]); }\n",
                      "const Pair p = {c, x[i]};\n"
                      "threadgroup half2 space[4];\nspace[i % 4] = half2(1.0h, half(kTable[i % 2]));\n"
                      "const float4 v(1.0f, 2.0f, 3.0f, 4.0f);\nconst uint2 w = uint2{1, 2} >> 1;\n"
                      "threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                      "y[i] = first(x) + first(t) + p.sum() * dot(v, v.wzyx) + as_type<float>(w.x) * min(i, 3u);"),
            "");
}

TEST_F(MetalTypes, AddressSpacesAreApart) {
  EXPECT_THAT(errors_of("inline float f(threadgroup const float* p) { return p[0]; }\n", "y[i] = f(x);"),
              AllOf(HasSubstr("a.metal:6:8: error: no matching function for call to 'f'"), HasSubstr("address space")));
  EXPECT_THAT(errors_of("", "device float* p = t;\np[0] = 1.0f;"), HasSubstr("a.metal:5:"));
  EXPECT_THAT(errors_of("", "\nt = reinterpret_cast<threadgroup float*>(y);"),
              AllOf(HasSubstr("a.metal:6:"), HasSubstr("reinterpret_cast")));
  EXPECT_THAT(errors_of("", "thread float* p = (thread float*)y;\np[0] = 1.0f;"), HasSubstr("address spaces"));
  EXPECT_THAT(errors_of("struct S {\nfloat a;\nvoid set() { a = 1.0f; }\n};\n",
                        "device S* s = reinterpret_cast<device S*>(y);\ns->set();"),
              HasSubstr("a.metal:10:"));  // a function for objects in thread memory
}

TEST_F(MetalTypes, ConstantsStayAsTheyAre) {
  EXPECT_THAT(errors_of("", "c = y[0];"), HasSubstr("not assignable"));
  EXPECT_THAT(errors_of("", "y[0] = 1.0f; x[0] = 1.0f;"), HasSubstr("a.metal:5:19: error: read-only"));
  EXPECT_THAT(errors_of("constant float kTable[2];\n", "y[0] = kTable[1];"), HasSubstr("must be initialized"));
}

TEST_F(MetalTypes, OverloadsAreAsStrictAsMetals) {
  EXPECT_THAT(errors_of("", "int j = 1;\ny[min(i, j)] = 1.0f;"),
              HasSubstr("a.metal:6:3: error: call to 'min' is ambiguous"));
  EXPECT_THAT(errors_of("", "simdgroup_half8x8 m;\nsimdgroup_load(m, x, 8);"),
              HasSubstr("no matching function for call to 'simdgroup_load'"));
  EXPECT_THAT(errors_of("", "y[i] = x[i] * 1.5;"), HasSubstr("double precision"));
  EXPECT_THAT(errors_of("", "y[i] = nothing;"), HasSubstr("undeclared identifier 'nothing'"));
}

}  // namespace
}  // namespace soffit::lanes
