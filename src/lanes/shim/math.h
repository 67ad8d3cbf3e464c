// Metal's functions of numbers and vectors. Those of several arguments want arguments of one type, as Metal does.
#pragma once

#include <bit>
#include <limits>

namespace metal {
inline namespace SOFFIT_LANES_MODE {

using soffit::lanes::applied;
using soffit::lanes::applied_float;
using soffit::lanes::Cost;
using soffit::lanes::kExponentialSlots;
using soffit::lanes::kFloorSlots;
using soffit::lanes::kMultiplySlots;
using soffit::lanes::kReciprocalSlots;
using soffit::lanes::kRootSlots;
using soffit::lanes::kShiftSlots;
using soffit::lanes::kSineSlots;
using soffit::lanes::kSlot;

template <Number A, Number... B>
constexpr void same_type() {
  static_assert((std::is_same_v<Native<A>, Native<B>> && ...), "arguments of different types: ambiguous in Metal");
}

// Element by element for vectors; numbers among them stand for all elements.
#define SOFFIT_BY_ELEMENT_1(f)                            \
  template <class A, int n>                               \
  constexpr auto f(vec<A, n> a) {                         \
    return by_element<n>([&](int i) { return f(a[i]); }); \
  }
#define SOFFIT_BY_ELEMENT_2(f)                                  \
  template <class A, class B, int n>                            \
  constexpr auto f(vec<A, n> a, vec<B, n> b) {                  \
    return by_element<n>([&](int i) { return f(a[i], b[i]); }); \
  }                                                             \
  template <class A, Number B, int n>                           \
  constexpr auto f(vec<A, n> a, const B& b) {                   \
    return by_element<n>([&](int i) { return f(a[i], b); });    \
  }
#define SOFFIT_BY_ELEMENT_3(f)                                        \
  template <class A, class B, class C, int n>                         \
  constexpr auto f(vec<A, n> a, vec<B, n> b, vec<C, n> c) {           \
    return by_element<n>([&](int i) { return f(a[i], b[i], c[i]); }); \
  }                                                                   \
  template <class A, Number B, Number C, int n>                       \
  constexpr auto f(vec<A, n> a, const B& b, const C& c) {             \
    return by_element<n>([&](int i) { return f(a[i], b, c); });       \
  }                                                                   \
  template <class A, class B, Number C, int n>                        \
  constexpr auto f(vec<A, n> a, vec<B, n> b, const C& c) {            \
    return by_element<n>([&](int i) { return f(a[i], b[i], c); });    \
  }

#define SOFFIT_FLOAT_FUNCTION(f, cost, slots, expression)                            \
  template <Number A>                                                                \
  constexpr auto f(const A& a) {                                                     \
    return applied_float<cost, slots>([](float x) { return float(expression); }, a); \
  }                                                                                  \
  SOFFIT_BY_ELEMENT_1(f)
SOFFIT_FLOAT_FUNCTION(floor, Cost::floor, kFloorSlots, std::floor(x))
SOFFIT_FLOAT_FUNCTION(ceil, Cost::floor, kFloorSlots, std::ceil(x))
SOFFIT_FLOAT_FUNCTION(trunc, Cost::floor, kFloorSlots, std::trunc(x))
SOFFIT_FLOAT_FUNCTION(rint, Cost::floor, kFloorSlots, std::rint(x))
SOFFIT_FLOAT_FUNCTION(round, Cost::floor, kFloorSlots, std::round(x))
SOFFIT_FLOAT_FUNCTION(fract, Cost::floor, kFloorSlots, std::fmin(x - std::floor(x), 0x1.fffffep-1f))
SOFFIT_FLOAT_FUNCTION(exp, Cost::special, kExponentialSlots + 1, std::exp(x))
SOFFIT_FLOAT_FUNCTION(exp2, Cost::special, kExponentialSlots, std::exp2(x))
SOFFIT_FLOAT_FUNCTION(exp10, Cost::special, kExponentialSlots + 1, std::pow(10.0f, x))
SOFFIT_FLOAT_FUNCTION(log, Cost::special, kExponentialSlots + 1, std::log(x))
SOFFIT_FLOAT_FUNCTION(log2, Cost::special, kExponentialSlots, std::log2(x))
SOFFIT_FLOAT_FUNCTION(log10, Cost::special, kExponentialSlots + 1, std::log10(x))
SOFFIT_FLOAT_FUNCTION(sqrt, Cost::special, kRootSlots, std::sqrt(x))
SOFFIT_FLOAT_FUNCTION(rsqrt, Cost::special, kRootSlots, 1.0f / std::sqrt(x))
SOFFIT_FLOAT_FUNCTION(sin, Cost::special, kSineSlots, std::sin(x))
SOFFIT_FLOAT_FUNCTION(cos, Cost::special, kSineSlots, std::cos(x))
SOFFIT_FLOAT_FUNCTION(tan, Cost::special, 2 * kSineSlots, std::tan(x))
SOFFIT_FLOAT_FUNCTION(asin, Cost::special, 2 * kSineSlots, std::asin(x))
SOFFIT_FLOAT_FUNCTION(acos, Cost::special, 2 * kSineSlots, std::acos(x))
SOFFIT_FLOAT_FUNCTION(atan, Cost::special, 2 * kSineSlots, std::atan(x))
SOFFIT_FLOAT_FUNCTION(sinh, Cost::special, 2 * kSineSlots, std::sinh(x))
SOFFIT_FLOAT_FUNCTION(cosh, Cost::special, 2 * kSineSlots, std::cosh(x))
SOFFIT_FLOAT_FUNCTION(tanh, Cost::special, 2 * kSineSlots, std::tanh(x))
SOFFIT_FLOAT_FUNCTION(sign, Cost::floating, 2 * kSlot, x > 0 ? 1 : x < 0 ? -1 : x)
SOFFIT_FLOAT_FUNCTION(saturate, Cost::floating, 0, std::fmin(std::fmax(x, 0.0f), 1.0f))
SOFFIT_FLOAT_FUNCTION(fabs, Cost::floating, 0, std::fabs(x))
#undef SOFFIT_FLOAT_FUNCTION

#define SOFFIT_FLOAT_FUNCTION(f, cost, slots, expression)                                        \
  template <Number A, Number B>                                                                  \
  constexpr auto f(const A& a, const B& b) {                                                     \
    same_type<A, B>();                                                                           \
    return applied_float<cost, slots>([](float x, float y) { return float(expression); }, a, b); \
  }                                                                                              \
  SOFFIT_BY_ELEMENT_2(f)
SOFFIT_FLOAT_FUNCTION(pow, Cost::special, 2 * kExponentialSlots + 1, std::pow(x, y))
SOFFIT_FLOAT_FUNCTION(powr, Cost::special, 2 * kExponentialSlots + 1, std::pow(x, y))
SOFFIT_FLOAT_FUNCTION(atan2, Cost::special, 3 * kSineSlots, std::atan2(x, y))
SOFFIT_FLOAT_FUNCTION(fmod, Cost::special, kReciprocalSlots + kFloorSlots + 2, std::fmod(x, y))
SOFFIT_FLOAT_FUNCTION(copysign, Cost::integer, 2 * kSlot, std::copysign(x, y))
SOFFIT_FLOAT_FUNCTION(step, Cost::floating, 2 * kSlot, y < x ? 0 : 1)
SOFFIT_FLOAT_FUNCTION(fmin, Cost::floating, kSlot, std::fmin(x, y))
SOFFIT_FLOAT_FUNCTION(fmax, Cost::floating, kSlot, std::fmax(x, y))
#undef SOFFIT_FLOAT_FUNCTION

template <class T>
inline constexpr Cost kKind = soffit::lanes::kFloating<T> ? Cost::floating : Cost::integer;

template <Number A>
constexpr auto abs(const A& a) {
  using T = Native<A>;
  if constexpr (soffit::lanes::kFloating<T>) {
    return fabs(a);
  } else {
    return applied<Cost::integer, kSlot>([](T x) { return T(x < 0 ? T(0) - x : x); }, a);
  }
}
SOFFIT_BY_ELEMENT_1(abs)
template <Number A, Number B>
constexpr auto min(const A& a, const B& b) {
  same_type<A, B>();
  using T = Native<A>;
  return applied<kKind<T>, kSlot>([](T x, T y) { return y < x || x != x ? y : x; }, a, b);
}
SOFFIT_BY_ELEMENT_2(min)
template <Number A, Number B>
constexpr auto max(const A& a, const B& b) {
  same_type<A, B>();
  using T = Native<A>;
  return applied<kKind<T>, kSlot>([](T x, T y) { return x < y || x != x ? y : x; }, a, b);
}
SOFFIT_BY_ELEMENT_2(max)
template <Number A, Number B, Number C>
constexpr auto clamp(const A& a, const B& low, const C& high) {
  same_type<A, B, C>();
  return min(max(a, low), high);
}
SOFFIT_BY_ELEMENT_3(clamp)

template <Number A, Number B, Number C>
constexpr auto fma(const A& a, const B& b, const C& c) {
  same_type<A, B, C>();
  return soffit::lanes::fused_multiply_add(a, b, c);
}
SOFFIT_BY_ELEMENT_3(fma)
template <Number A, Number B, Number C>
constexpr auto mad(const A& a, const B& b, const C& c) {
  return fma(a, b, c);
}
SOFFIT_BY_ELEMENT_3(mad)
template <Number A, Number B, Number C>
constexpr auto mix(const A& a, const B& b, const C& t) {
  same_type<A, B, C>();
  return a + (b - a) * t;
}
SOFFIT_BY_ELEMENT_3(mix)
template <Number A, Number B, Number C>
constexpr auto smoothstep(const A& low, const B& high, const C& x) {
  const auto t = saturate((x - low) / (high - low));
  return t * t * (3.0f - 2.0f * t);
}
SOFFIT_BY_ELEMENT_3(smoothstep)
template <Number A, Number B, Number C>
constexpr auto select(const A& otherwise, const B& chosen, const C& condition) {
  same_type<A, B>();
  using T = Native<A>;
  return applied<kKind<T>, kSlot>([](T x, T y, auto c) { return c ? y : x; }, otherwise, chosen, condition);
}
SOFFIT_BY_ELEMENT_3(select)
template <Number A, Number B>
constexpr auto ldexp(const A& a, const B& exponent) {
  return applied<Cost::special, kExponentialSlots + 1>(
      [](Native<A> x, int e) { return Native<A>(std::ldexp(float(x), e)); }, a, exponent);
}

#define SOFFIT_PREDICATE(f, expression)                                                 \
  template <Number A>                                                                   \
  constexpr auto f(const A& a) {                                                        \
    return applied<Cost::floating, kSlot>([](float x) { return bool(expression); }, a); \
  }                                                                                     \
  SOFFIT_BY_ELEMENT_1(f)
SOFFIT_PREDICATE(isnan, std::isnan(x))
SOFFIT_PREDICATE(isinf, std::isinf(x))
SOFFIT_PREDICATE(isfinite, std::isfinite(x))
#undef SOFFIT_PREDICATE

// Integers ------------------------------------------------------------------------------------------------------------

template <class T>
using Unsigned = std::make_unsigned_t<T>;

#define SOFFIT_INTEGER_FUNCTION(f, slots, expression)                           \
  template <Number A>                                                           \
  constexpr auto f(const A& a) {                                                \
    using T = Native<A>;                                                        \
    return applied<Cost::integer, slots>([](T x) { return T(expression); }, a); \
  }                                                                             \
  SOFFIT_BY_ELEMENT_1(f)
SOFFIT_INTEGER_FUNCTION(popcount, kShiftSlots, std::popcount(Unsigned<T>(x)))
SOFFIT_INTEGER_FUNCTION(clz, kShiftSlots, std::countl_zero(Unsigned<T>(x)))
SOFFIT_INTEGER_FUNCTION(ctz, kShiftSlots, std::countr_zero(Unsigned<T>(x)))
#undef SOFFIT_INTEGER_FUNCTION
template <class T>
constexpr T bits_reversed(T x) {
  T result = 0;
  for (size_t i = 0; i < 8 * sizeof(T); ++i) result = T(result | ((x >> i) & 1) << (8 * sizeof(T) - 1 - i));
  return result;
}
template <Number A>
constexpr auto reverse_bits(const A& a) {
  return applied<Cost::integer, kShiftSlots>(
      [](auto x) { return decltype(x)(bits_reversed<Unsigned<decltype(x)>>(x)); }, a);
}
SOFFIT_BY_ELEMENT_1(reverse_bits)
template <Number A, Number B>
constexpr auto rotate(const A& a, const B& by) {
  using T = Native<A>;
  return applied<Cost::integer, kShiftSlots>([](T x, auto n) { return T(std::rotl(Unsigned<T>(x), int(n))); }, a, by);
}
SOFFIT_BY_ELEMENT_2(rotate)
template <Number A, Number B>
constexpr auto mulhi(const A& a, const B& b) {
  same_type<A, B>();
  using T = Native<A>;
  using Wide = std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                                  std::conditional_t<std::is_signed_v<T>, ::int64_t, ::uint64_t>>;
  return applied<Cost::integer, kMultiplySlots>([](T x, T y) { return T((Wide(x) * Wide(y)) >> (8 * sizeof(T))); }, a,
                                                b);
}
SOFFIT_BY_ELEMENT_2(mulhi)
template <Number A, Number B>
constexpr auto mul24(const A& a, const B& b) {
  return a * b;
}
template <Number A, Number B, Number C>
constexpr auto mad24(const A& a, const B& b, const C& c) {
  return a * b + c;
}
template <Number A, Number B>
constexpr auto absdiff(const A& a, const B& b) {
  same_type<A, B>();
  using T = Native<A>;
  return applied<Cost::integer, 2 * kSlot>(
      [](T x, T y) { return x > y ? Unsigned<T>(x) - Unsigned<T>(y) : Unsigned<T>(y) - Unsigned<T>(x); }, a, b);
}
template <class T>
constexpr Unsigned<T> low_bits(unsigned count) {
  return count >= 8 * sizeof(T) ? Unsigned<T>(~Unsigned<T>(0)) : Unsigned<T>((Unsigned<T>(1) << count) - 1);
}
template <Number A, Number B, Number C>
constexpr auto extract_bits(const A& a, const B& offset, const C& bits) {
  using T = Native<A>;
  return applied<Cost::integer, kShiftSlots>(
      [](T x, auto from, auto n) {
        auto field = Unsigned<T>(Unsigned<T>(x) >> unsigned(from)) & low_bits<T>(unsigned(n));
        if (std::is_signed_v<T> && n > 0 && (field >> (n - 1) & 1)) field |= ~low_bits<T>(unsigned(n));
        return T(field);
      },
      a, offset, bits);
}
template <Number A, Number B, Number C, Number D>
constexpr auto insert_bits(const A& base, const B& insert, const C& offset, const D& bits) {
  using T = Native<A>;
  return applied<Cost::integer, kShiftSlots>(
      [](T x, T y, auto at, auto n) {
        const auto mask = Unsigned<T>(low_bits<T>(unsigned(n)) << unsigned(at));
        return T((Unsigned<T>(x) & ~mask) | (Unsigned<T>(Unsigned<T>(y) << unsigned(at)) & mask));
      },
      base, insert, offset, bits);
}

// Vectors -------------------------------------------------------------------------------------------------------------

template <class A, class B, int n>
constexpr auto dot(vec<A, n> a, vec<B, n> b) {
  const auto first = a[0] * b[0];
  if constexpr (n == 2) {
    return first + a[1] * b[1];
  } else if constexpr (n == 3) {
    return (first + a[1] * b[1]) + a[2] * b[2];
  } else {
    return ((first + a[1] * b[1]) + a[2] * b[2]) + a[3] * b[3];
  }
}
template <class A, int n>
constexpr auto length(vec<A, n> a) {
  return sqrt(dot(a, a));
}
template <class A, class B, int n>
constexpr auto distance(vec<A, n> a, vec<B, n> b) {
  return length(a - b);
}
template <class A, int n>
constexpr auto normalize(vec<A, n> a) {
  return a * rsqrt(dot(a, a));
}
template <class A, class B>
constexpr auto cross(vec<A, 3> a, vec<B, 3> b) {
  using T = soffit::lanes::Stored<Native<A>>;
  return vec<T, 3>(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
}
template <class A, int n>
constexpr auto any(vec<A, n> a) {
  auto result = a[0] | a[1];
  for (int i = 2; i < n; ++i) result = result | a[i];
  return result != 0;
}
template <class A, int n>
constexpr auto all(vec<A, n> a) {
  auto result = a[0] & a[1];
  for (int i = 2; i < n; ++i) result = result & a[i];
  return result != 0;
}

// Bits ----------------------------------------------------------------------------------------------------------------

template <class T>
struct Representation {  // of a number
  using Native = metal::Native<T>;
  static constexpr int kCount = 1;
  static constexpr auto get(const T& from, int) { return soffit::lanes::native_value(from); }
  static constexpr soffit::lanes::Flags flags(const T& from) { return soffit::lanes::flags_of(from); }
  static constexpr auto made(const Native* from, soffit::lanes::Flags flags) {
    return soffit::lanes::with_flags(*from, flags);
  }
};
template <class T, int n>
struct Representation<vec<T, n>> {
  using Native = metal::Native<T>;
  static constexpr int kCount = n;
  static constexpr auto get(const vec<T, n>& from, int i) { return soffit::lanes::native_value(from[i]); }
  static constexpr soffit::lanes::Flags flags(const vec<T, n>& from) {
    soffit::lanes::Flags result = 0;
    for (int i = 0; i < n; ++i) result |= soffit::lanes::flags_of(from[i]);
    return result;
  }
  static constexpr auto made(const Native* from, soffit::lanes::Flags flags) {
    vec<T, n> result;
    for (int i = 0; i < n; ++i) result[i] = soffit::lanes::with_flags(from[i], flags);
    return result;
  }
};

template <class To, class From>
constexpr auto as_type(const From& from) {
  using Source = Representation<From>;
  using Target = Representation<To>;
  static_assert(sizeof(typename Source::Native) * Source::kCount == sizeof(typename Target::Native) * Target::kCount,
                "as_type between types of different size");
  typename Source::Native source[Source::kCount];
  typename Target::Native target[Target::kCount];
  for (int i = 0; i < Source::kCount; ++i) source[i] = Source::get(from, i);
  std::memcpy(target, source, sizeof target);
  return Target::made(target, Source::flags(from));
}

namespace precise {
using namespace metal;
}
namespace fast {
using namespace metal;
}

template <class T>
struct numeric_limits : std::numeric_limits<Native<T>> {};

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal
