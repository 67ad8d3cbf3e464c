// Metal's library as declarations in C++ for OpenCL, for checking types and address spaces: device memory is __global,
// threadgroup memory __local, thread memory __private. Nothing here has a body or runs. Overloads are as strict as
// Metal's: min(int, uint) is ambiguous there too. Written after the Metal Shading Language Specification, 3.1.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
// `this` has no address space of its own here, so pointers without one pass; the translator refuses them.

#define device __global
#define constant __constant
#define threadgroup __local
#define thread __private

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

namespace metal {

struct bfloat {
  ushort bits;
  bfloat() = default;
  explicit bfloat(float);
  operator float() const;
};

template <class T, int n>
struct VectorOf {
  typedef T Type __attribute__((ext_vector_type(n)));
};
template <int n>
struct VectorOf<bfloat, n> {
  struct Type {
    bfloat x, y, z, w;
    bfloat operator[](int) const;
  };
};
template <class T, int n>
using vec = typename VectorOf<T, n>::Type;

#define SOFFIT_VECTORS(T)                             \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4)));
SOFFIT_VECTORS(char)
SOFFIT_VECTORS(uchar)
SOFFIT_VECTORS(short)
SOFFIT_VECTORS(ushort)
SOFFIT_VECTORS(int)
SOFFIT_VECTORS(uint)
SOFFIT_VECTORS(long)
SOFFIT_VECTORS(ulong)
SOFFIT_VECTORS(half)
SOFFIT_VECTORS(float)
typedef vec<bfloat, 2> bfloat2;
typedef vec<bfloat, 4> bfloat4;

// T(a, b, …) of a vector type, for which C++ for OpenCL has another syntax.
template <class V, class... A>
V constructed(A...);
bfloat bfloat_literal(float);

template <class T, class F>
T as_type(F);

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
mem_flags operator|(mem_flags, mem_flags);
void threadgroup_barrier(mem_flags);
void simdgroup_barrier(mem_flags);

struct simd_vote {
  operator ulong() const;
};
simd_vote simd_ballot(bool);
bool simd_all(bool);
bool simd_any(bool);
bool simd_is_first();

// For a type and its vectors.
#define SOFFIT_WITH_VECTORS(M, T) M(T) M(T##2) M(T##3) M(T##4)
// clang-format off
#define SOFFIT_INTEGERS(M)                                                                   \
  SOFFIT_WITH_VECTORS(M, char) SOFFIT_WITH_VECTORS(M, uchar) SOFFIT_WITH_VECTORS(M, short)   \
  SOFFIT_WITH_VECTORS(M, ushort) SOFFIT_WITH_VECTORS(M, int) SOFFIT_WITH_VECTORS(M, uint)    \
  SOFFIT_WITH_VECTORS(M, long) SOFFIT_WITH_VECTORS(M, ulong)
// clang-format on
#define SOFFIT_FLOATS(M) SOFFIT_WITH_VECTORS(M, half) SOFFIT_WITH_VECTORS(M, float)

#define SOFFIT_OF_ALL(T)          \
  T min(T, T);                    \
  T max(T, T);                    \
  T abs(T);                       \
  T clamp(T, T, T);               \
  T simd_sum(T);                  \
  T simd_product(T);              \
  T simd_max(T);                  \
  T simd_min(T);                  \
  T simd_broadcast(T, ushort);    \
  T simd_broadcast_first(T);      \
  T simd_shuffle(T, ushort);      \
  T simd_shuffle_xor(T, ushort);  \
  T simd_shuffle_up(T, ushort);   \
  T simd_shuffle_down(T, ushort); \
  T simd_prefix_inclusive_sum(T); \
  T simd_prefix_exclusive_sum(T); \
  T quad_sum(T);                  \
  T quad_shuffle_xor(T, ushort);  \
  T select(T, T, bool);
SOFFIT_INTEGERS(SOFFIT_OF_ALL)
SOFFIT_FLOATS(SOFFIT_OF_ALL)

#define SOFFIT_OF_INTEGERS(T)    \
  T popcount(T);                 \
  T clz(T);                      \
  T ctz(T);                      \
  T mulhi(T, T);                 \
  T rotate(T, T);                \
  T extract_bits(T, uint, uint); \
  T simd_and(T);                 \
  T simd_or(T);                  \
  T simd_xor(T);
SOFFIT_INTEGERS(SOFFIT_OF_INTEGERS)

#define SOFFIT_OF_FLOATS(T) \
  T floor(T);               \
  T ceil(T);                \
  T rint(T);                \
  T round(T);               \
  T trunc(T);               \
  T fract(T);               \
  T fabs(T);                \
  T sqrt(T);                \
  T rsqrt(T);               \
  T exp(T);                 \
  T exp2(T);                \
  T log(T);                 \
  T log2(T);                \
  T sin(T);                 \
  T cos(T);                 \
  T tanh(T);                \
  T sign(T);                \
  T saturate(T);            \
  T fma(T, T, T);           \
  T pow(T, T);              \
  T fmin(T, T);             \
  T fmax(T, T);             \
  T fmod(T, T);             \
  T mix(T, T, T);           \
  T copysign(T, T);
SOFFIT_FLOATS(SOFFIT_OF_FLOATS)
#define SOFFIT_OF_NUMBER(T) \
  bool isnan(T);            \
  bool isinf(T);            \
  bool isfinite(T);         \
  T ldexp(T, int);
SOFFIT_OF_NUMBER(half)
SOFFIT_OF_NUMBER(float)
#define SOFFIT_OF_VECTOR(T, V) \
  T dot(V, V);                 \
  T length(V);
SOFFIT_OF_VECTOR(float, float2)
SOFFIT_OF_VECTOR(float, float3)
SOFFIT_OF_VECTOR(float, float4)
SOFFIT_OF_VECTOR(half, half2)
SOFFIT_OF_VECTOR(half, half3)
SOFFIT_OF_VECTOR(half, half4)

namespace precise {
SOFFIT_FLOATS(SOFFIT_OF_FLOATS)
}
namespace fast {
SOFFIT_FLOATS(SOFFIT_OF_FLOATS)
}

template <class T, int columns, int rows>
struct simdgroup_matrix {
  static_assert(columns == 8 && rows == 8, "simdgroup matrices are 8 x 8");
  T elements[2];
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T);
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
template <class T, int columns, int rows = columns>
simdgroup_matrix<T, columns, rows> make_filled_simdgroup_matrix(T);
#define SOFFIT_LOADS_AND_STORES(space)                                                                            \
  template <class T>                                                                                              \
  void simdgroup_load(__private simdgroup_matrix<T, 8, 8>&, const space T*, ulong = 8, ulong2 = 0, bool = false); \
  template <class T>                                                                                              \
  void simdgroup_store(simdgroup_matrix<T, 8, 8>, space T*, ulong = 8, ulong2 = 0, bool = false);
SOFFIT_LOADS_AND_STORES(__global)
SOFFIT_LOADS_AND_STORES(__local)
template <class D, class A, class B, class C>
void simdgroup_multiply_accumulate(__private simdgroup_matrix<D, 8, 8>&, simdgroup_matrix<A, 8, 8>,
                                   simdgroup_matrix<B, 8, 8>, simdgroup_matrix<C, 8, 8>);

}  // namespace metal
