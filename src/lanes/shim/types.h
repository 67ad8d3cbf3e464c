// The names of Metal's types. The translator writes msl_int for int and so on, since keywords have no second meaning.
#pragma once

namespace metal {
inline namespace SOFFIT_LANES_MODE {

using soffit::lanes::Bfloat;
using soffit::lanes::Half;
template <class T>
using NativeConstant = soffit::lanes::NativeConstant<T>;

using msl_bool = Stored<bool>;
using msl_char = Stored<int8_t>;
using msl_uchar = Stored<uint8_t>;
using msl_short = Stored<int16_t>;
using msl_ushort = Stored<uint16_t>;
using msl_int = Stored<int32_t>;
using msl_uint = Stored<uint32_t>;
using msl_long = Stored<int64_t>;
using msl_ulong = Stored<uint64_t>;
using msl_float = Stored<float>;
using half = Stored<Half>;
using bfloat = Stored<Bfloat>;

using uchar = msl_uchar;
using ushort = msl_ushort;
using uint = msl_uint;
using ulong = msl_ulong;
using int8_t = msl_char;
using uint8_t = msl_uchar;
using int16_t = msl_short;
using uint16_t = msl_ushort;
using int32_t = msl_int;
using uint32_t = msl_uint;
using int64_t = msl_long;
using uint64_t = msl_ulong;
using size_t = msl_ulong;
using ptrdiff_t = msl_long;
using uintptr_t = msl_ulong;

#define SOFFIT_VECTOR_NAMES(name, T)         \
  using name##2 = vec<T, 2>;                 \
  using name##3 = vec<T, 3>;                 \
  using name##4 = vec<T, 4>;                 \
  using packed_##name##2 = packed_vec<T, 2>; \
  using packed_##name##3 = packed_vec<T, 3>; \
  using packed_##name##4 = packed_vec<T, 4>;
SOFFIT_VECTOR_NAMES(bool, msl_bool)
SOFFIT_VECTOR_NAMES(char, msl_char)
SOFFIT_VECTOR_NAMES(uchar, msl_uchar)
SOFFIT_VECTOR_NAMES(short, msl_short)
SOFFIT_VECTOR_NAMES(ushort, msl_ushort)
SOFFIT_VECTOR_NAMES(int, msl_int)
SOFFIT_VECTOR_NAMES(uint, msl_uint)
SOFFIT_VECTOR_NAMES(long, msl_long)
SOFFIT_VECTOR_NAMES(ulong, msl_ulong)
SOFFIT_VECTOR_NAMES(float, msl_float)
SOFFIT_VECTOR_NAMES(half, half)
SOFFIT_VECTOR_NAMES(bfloat, bfloat)
#undef SOFFIT_VECTOR_NAMES

#define SOFFIT_MATRIX_NAMES(name, T) \
  using name##2x2 = matrix<T, 2, 2>; \
  using name##2x3 = matrix<T, 2, 3>; \
  using name##2x4 = matrix<T, 2, 4>; \
  using name##3x2 = matrix<T, 3, 2>; \
  using name##3x3 = matrix<T, 3, 3>; \
  using name##3x4 = matrix<T, 3, 4>; \
  using name##4x2 = matrix<T, 4, 2>; \
  using name##4x3 = matrix<T, 4, 3>; \
  using name##4x4 = matrix<T, 4, 4>;
SOFFIT_MATRIX_NAMES(float, msl_float)
SOFFIT_MATRIX_NAMES(half, half)
SOFFIT_MATRIX_NAMES(bfloat, bfloat)
#undef SOFFIT_MATRIX_NAMES

// A constant of type half: 1.0h.
constexpr Half half_literal(float value) { return Half(value); }
constexpr Bfloat bfloat_literal(float value) { return Bfloat(value); }

using std::conditional_t;
using std::enable_if_t;
using std::integral_constant;
using std::is_same;
using std::is_same_v;

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal
