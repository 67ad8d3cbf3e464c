// Numbers of the plain mode: the machine's own, neither checked nor counted.
#pragma once

#include "lane.h"
#include "number.h"

namespace soffit::lanes {
inline namespace plain_mode {

template <class T>
using Stored = T;
// What a compile-time constant of the type is.
template <class T>
using NativeConstant = T;

constexpr void count(Cost, uint32_t, Flags) {}

template <Cost, uint32_t, Number... A>
constexpr auto applied(auto&& function, const A&... a) {
  return function(Native<A>(a)...);
}
template <Cost, uint32_t slots, Number... A>
constexpr auto applied_float(auto&& function, const A&... a) {
  using R = std::common_type_t<Native<A>...>;
  if constexpr (kSmallFloat<R>) {
    return R(function(float(a)...));
  } else {
    return function(R(a)...);
  }
}
template <Number A, Number B, Number C>
constexpr auto fused_multiply_add(const A& a, const B& b, const C& c) {
  using R = Common<Common<Native<A>, Native<B>>, Native<C>>;
  return fused<R>(converted<R>(a), converted<R>(b), converted<R>(c));
}

template <Number A>
constexpr Native<A> native_value(const A& a) {
  return a;
}
template <class... A>
constexpr Flags flags_of(const A&...) {
  return kIndex;
}
template <class T>
constexpr T with_flags(T value, Flags) {
  return value;
}

// As an element of a vector of E.
template <class E, Number A>
constexpr E as_element(const A& a) {
  return converted<E>(Native<A>(a));
}

template <class T, int n>
constexpr void load_elements(T (&to)[n], const T* from, size_t) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
template <int n, class T>
constexpr void store_elements(T* to, const T (&from)[n], size_t) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}

}  // namespace plain_mode
}  // namespace soffit::lanes
