// Metal source after the preprocessor: what kernels are made of, and what is refused.
#include "corpus.hpp"

namespace soffit::fuzz {

void make_metal(const Corpus& corpus) {
  const auto seed = [&](const char* name, std::string_view text) { corpus.seed(name, std::as_bytes(std::span(text))); };
  seed("kernel", R"(# 1 "kernel.metal"
using namespace metal;
kernel void sums(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]],
                 threadgroup float *part [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float own[32];
  for (uint k = 0; k < n; ++k) {
    if (k % 2 == 0) continue;
    own[i] += x[k] * 2.0f - 1.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = simd_sum(own[i]) > 0 ? as_type<float>(0x3f800000u) : -1.0e-3f;
}
)");
  seed("template", R"(constant int rows [[function_constant(4)]];
constant float table[3] = {1, 2, 3};
struct Block { half d; uchar codes[16]; };
template <typename T> inline T twice(T x) { return x + x; }
template <typename T>
kernel void copies(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  do { y[i] = twice(x[i]); i += 32; } while (i < 64);
  switch (rows) { case 1: break; default: y[0] = T(table[1]); }
}
template [[host_name("copies_half")]] kernel void copies<half>(device const half *, device half *, uint);
)");
  seed("texture", "kernel void t(texture2d<float> image [[texture(0)]]) { double d = 1; }\n");
  seed("never_closed", "kernel void f(((({[ uint<");
  seed("closed_only", "}>]) template < > ; #line 4294967295 \"a\"\n :: -> ... ? :");
  seed("text_open", "\"abc\\");
  seed("file_name", "# 1 \"a\x01\xff\"\nint a = ~;\n\"abc");
  seed("file_unknown", "# 7 \"a\x01\xff\"\nkernel void t(texture2d<float> image) { f(\"a\\\nb\" }\n");
  seed("struct_end", "struct Block { half d; }");
  seed("host_name_none", "kernel [[host_name]] void a() {}\ntemplate [[host_name()]] kernel void a<half>();\n");
  seed("not_metal", "int a = `b`;\x01\xff");
}

}  // namespace soffit::fuzz
