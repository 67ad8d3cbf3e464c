// Where an operator stands. The translator writes  a + At{7} + b  for  a + b:  the first + takes the left side aside,
// the second applies the operator as the lane stands at site 7. Precedence and order of evaluation stay those of the
// source.
//   a += b      a += At{7} = b
//   -a, ~a      -At{7}->*a
//   (T)a        cast<T>(At{7})->*a
//   T(a, b)     make<T>(At{7}, a, b)
//   c ? a : b   c ? Arm{7} = a : Arm{7} = b
// An operator on constants alone stays one of constants.
#pragma once

#include <utility>

#include "scalar_checked.h"

namespace soffit::lanes {
inline namespace checked_mode {

constexpr void at(uint32_t site) {
  if (!std::is_constant_evaluated()) lane().site = site;
}

template <class T>
struct Located {
  T value;
  uint32_t site;
};

struct At {
  uint32_t site;
  template <class T>
  constexpr Located<T&&> operator=(T&& value) const {
    return {std::forward<T>(value), site};
  }
};

template <class L>
struct Pending {
  L left;
  uint32_t site;
};

#define SOFFIT_AT_OPERATOR(op)                                            \
  template <class L>                                                      \
  constexpr Pending<L> operator op(L&& left, At here) {                   \
    return {std::forward<L>(left), here.site};                            \
  }                                                                       \
  template <class L, class R>                                             \
  constexpr decltype(auto) operator op(Pending<L>&& pending, R&& right) { \
    at(pending.site);                                                     \
    return std::forward<L>(pending.left) op std::forward<R>(right);       \
  }
SOFFIT_AT_OPERATOR(+)
SOFFIT_AT_OPERATOR(-)
SOFFIT_AT_OPERATOR(*)
SOFFIT_AT_OPERATOR(/)
SOFFIT_AT_OPERATOR(%)
SOFFIT_AT_OPERATOR(&)
SOFFIT_AT_OPERATOR(|)
SOFFIT_AT_OPERATOR(^)
SOFFIT_AT_OPERATOR(<<)
SOFFIT_AT_OPERATOR(>>)
SOFFIT_AT_OPERATOR(<)
SOFFIT_AT_OPERATOR(>)
SOFFIT_AT_OPERATOR(<=)
SOFFIT_AT_OPERATOR(>=)
SOFFIT_AT_OPERATOR(==)
SOFFIT_AT_OPERATOR(!=)
#undef SOFFIT_AT_OPERATOR

#define SOFFIT_AT_COMPOUND(op)                              \
  template <class L, class R>                               \
  constexpr L&& operator op(L&& left, Located<R>&& right) { \
    at(right.site);                                         \
    left op std::forward<R>(right.value);                   \
    return std::forward<L>(left);                           \
  }
SOFFIT_AT_COMPOUND(+=)
SOFFIT_AT_COMPOUND(-=)
SOFFIT_AT_COMPOUND(*=)
SOFFIT_AT_COMPOUND(/=)
SOFFIT_AT_COMPOUND(%=)
SOFFIT_AT_COMPOUND(&=)
SOFFIT_AT_COMPOUND(|=)
SOFFIT_AT_COMPOUND(^=)
SOFFIT_AT_COMPOUND(<<=)
SOFFIT_AT_COMPOUND(>>=)
#undef SOFFIT_AT_COMPOUND

#define SOFFIT_AT_UNARY(op, Name)                              \
  struct Name {                                                \
    uint32_t site;                                             \
  };                                                           \
  constexpr Name operator op(At here) { return {here.site}; }  \
  template <class T>                                           \
  constexpr decltype(auto) operator->*(Name here, T&& value) { \
    at(here.site);                                             \
    return op std::forward<T>(value);                          \
  }
SOFFIT_AT_UNARY(-, Negative)
SOFFIT_AT_UNARY(~, Complement)
#undef SOFFIT_AT_UNARY

// An argument of a function: a number is read once, here; anything else passes.
template <class T>
constexpr decltype(auto) settled(T&& argument) {
  if constexpr (Instrumented<std::remove_cvref_t<T>>) {
    return read(argument);
  } else {
    return std::forward<T>(argument);
  }
}

// A value of the type as an expression has it: a number without a place in memory, anything else itself.
template <class T, class... A>
constexpr auto make(At here, A&&... from) {
  at(here.site);
  if constexpr (Instrumented<T> && sizeof...(A) == 1 && (Number<A> && ...)) {
    return convert<Native<T>>(from...);
  } else if constexpr (Instrumented<T> && sizeof...(A) == 1) {  // of a vote or a scoped enumeration
    return Value<Native<T>>(static_cast<Native<T>>(from)...,
                            (std::is_enum_v<std::remove_cvref_t<A>> && ...) ? kIndex : kData);
  } else if constexpr (Instrumented<T>) {
    return Value<Native<T>>(Native<T>(), kIndex);  // float()
  } else {
    return T(std::forward<A>(from)...);
  }
}

template <class T>
struct Cast {
  uint32_t site;
};
template <class T>
constexpr Cast<T> cast(At here) {
  return {here.site};
}
template <class T, class F>
constexpr auto operator->*(Cast<T> here, F&& from) {
  return make<T>(At{here.site}, std::forward<F>(from));
}
// (T)(U)a
template <class T, class U>
struct CastTwice {
  uint32_t outer, inner;
};
template <class T, class U>
constexpr CastTwice<T, U> operator->*(Cast<T> outer, Cast<U> inner) {
  return {outer.site, inner.site};
}
template <class T, class U, class F>
constexpr auto operator->*(CastTwice<T, U> here, F&& from) {
  return make<T>(At{here.outer}, make<U>(At{here.inner}, std::forward<F>(from)));
}

// A side of ?: as both sides can have it: numbers as values, promoted; a selection of data costs a slot.
struct Arm {
  uint32_t site;
  template <class T>
  constexpr decltype(auto) operator=(T&& side) const {
    if constexpr (Number<T>) {
      using R = std::conditional_t<std::is_same_v<Native<T>, bool>, bool, Promoted<Native<T>>>;
      at(site);
      const Value<R> value = convert<R>(side);
      count(kArithmetic<R>, kSlot, value.flags);
      return value;
    } else if constexpr (std::is_lvalue_reference_v<T>) {
      return std::forward<T>(side);
    } else {
      return std::remove_cvref_t<T>(std::forward<T>(side));
    }
  }
};

}  // namespace checked_mode
}  // namespace soffit::lanes
