// half and bfloat as values: arithmetic in fp32 rounded to the type, which is what a device computes for + - * / and
// square roots (an fp32 result rounded again to at most 11 bits equals the exact one rounded once: 24 >= 2 * 11 + 2).
#pragma once

#include <concepts>
#include <cstdint>

#include "core/half.hpp"

namespace soffit::lanes {

template <uint16_t (*narrow)(float), float (*widen)(uint16_t)>
struct SmallFloat {
  uint16_t bits;

  SmallFloat() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr SmallFloat(T value) : bits(narrow(float(value))) {}
  constexpr operator float() const { return widen(bits); }

  static constexpr SmallFloat from_bits(uint16_t bits) {
    SmallFloat value(0.0f);
    value.bits = bits;
    return value;
  }
  constexpr SmallFloat operator-() const { return from_bits(uint16_t(bits ^ 0x8000u)); }
  constexpr SmallFloat operator+() const { return *this; }

  template <class T>
  constexpr SmallFloat& operator+=(T y) {
    return *this = SmallFloat(float(*this) + float(y));
  }
  template <class T>
  constexpr SmallFloat& operator-=(T y) {
    return *this = SmallFloat(float(*this) - float(y));
  }
  template <class T>
  constexpr SmallFloat& operator*=(T y) {
    return *this = SmallFloat(float(*this) * float(y));
  }
  template <class T>
  constexpr SmallFloat& operator/=(T y) {
    return *this = SmallFloat(float(*this) / float(y));
  }
};

// With an integer the result is of the type; with float it is float, by the conversion.
#define SOFFIT_SMALL_FLOAT_OPERATOR(op)                                            \
  template <auto n, auto w>                                                        \
  constexpr SmallFloat<n, w> operator op(SmallFloat<n, w> x, SmallFloat<n, w> y) { \
    return SmallFloat<n, w>(float(x) op float(y));                                 \
  }                                                                                \
  template <auto n, auto w, std::integral I>                                       \
  constexpr SmallFloat<n, w> operator op(SmallFloat<n, w> x, I y) {                \
    return x op SmallFloat<n, w>(y);                                               \
  }                                                                                \
  template <auto n, auto w, std::integral I>                                       \
  constexpr SmallFloat<n, w> operator op(I x, SmallFloat<n, w> y) {                \
    return SmallFloat<n, w>(x) op y;                                               \
  }
SOFFIT_SMALL_FLOAT_OPERATOR(+)
SOFFIT_SMALL_FLOAT_OPERATOR(-)
SOFFIT_SMALL_FLOAT_OPERATOR(*)
SOFFIT_SMALL_FLOAT_OPERATOR(/)
#undef SOFFIT_SMALL_FLOAT_OPERATOR

using Half = SmallFloat<float_to_half, half_to_float>;
using Bfloat = SmallFloat<float_to_bfloat, bfloat_to_float>;
static_assert(sizeof(Half) == 2 && std::is_trivially_copyable_v<Half>);

template <class T>
inline constexpr bool kSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;
template <class T>
inline constexpr bool kFloating = kSmallFloat<T> || std::is_same_v<T, float>;

}  // namespace soffit::lanes
