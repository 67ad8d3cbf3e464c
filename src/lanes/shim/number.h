// Which type arithmetic has: the usual conversions of C++, with half and bfloat among them. Shared by both modes.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "half.h"

namespace soffit::lanes {

// What a number is on the machine: itself, or what is inside an instrumented one. void: it is no number.
template <class T>
struct NativeOf {
  using Type = std::conditional_t<std::is_arithmetic_v<T> || kSmallFloat<T>, T, void>;
};
template <class T>
requires(std::is_enum_v<T>&& std::is_convertible_v<T, int64_t>) struct NativeOf<T> {
  using Type = decltype(+T());
};
template <class T>
using Native = typename NativeOf<std::remove_cvref_t<T>>::Type;

template <class T>
concept Number = !std::is_void_v<Native<T>>;

template <class T, class U>
constexpr auto common() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<U, float>) {
    return float();
  } else if constexpr (kSmallFloat<T> && kSmallFloat<U>) {
    return std::conditional_t<std::is_same_v<T, U>, T, float>(0.0f);
  } else if constexpr (kSmallFloat<T>) {
    return T(0.0f);
  } else if constexpr (kSmallFloat<U>) {
    return U(0.0f);
  } else {
    return decltype(T() + U())();
  }
}
template <class T, class U>
using Common = decltype(common<T, U>());

template <class T>
using Promoted = Common<T, T>;

template <class To, class From>
constexpr To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_integral_v<To> && kFloating<From> && !std::is_same_v<To, bool>) {
    // The device saturates; C++ leaves it undefined.
    const float x = float(value), limit = sizeof(To) == 8 ? 0x1p63f : float(uint64_t(1) << (8 * sizeof(To) - 1));
    if (!(x == x)) return To(0);
    if constexpr (std::is_signed_v<To>) {
      if (x >= limit) return To(~(uint64_t(1) << (8 * sizeof(To) - 1)));
      if (x < -limit) return To(uint64_t(1) << (8 * sizeof(To) - 1));
    } else {
      if (x >= 2 * limit) return To(~uint64_t(0));
      if (x <= 0) return To(0);
    }
    return To(x);
  } else if constexpr (kSmallFloat<To>) {
    return To(float(value));
  } else if constexpr (kSmallFloat<From>) {
    return To(float(value));
  } else {
    return static_cast<To>(value);
  }
}

// Rounded once. A product of two small floats is exact in fp32; its sum with a third is rounded to odd in fp32 first,
// so that the second rounding sees on which side of a midpoint the exact sum lies.
template <class T>
constexpr T fused(T a, T b, T c) {
  if constexpr (kSmallFloat<T>) {
    const double exact_product = double(float(a)) * double(float(b)), addend = double(float(c));
    const double sum = exact_product + addend;
    const double rest = (exact_product - (sum - (sum - exact_product))) + (addend - (sum - exact_product));
    float nearest = float(sum);
    const double off = (sum - double(nearest)) + rest;
    if (off != 0 && std::isfinite(nearest)) {
      uint32_t bits;
      std::memcpy(&bits, &nearest, 4);
      if ((bits & 1u) == 0) nearest = std::nextafterf(nearest, off > 0 ? INFINITY : -INFINITY);
    }
    return T(nearest);
  } else {
    return std::fma(a, b, c);
  }
}

}  // namespace soffit::lanes
