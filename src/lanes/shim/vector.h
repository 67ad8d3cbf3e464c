// vec<T, n> and matrix<T, columns, rows>. T is a variable's type or, in the middle of an expression, an operator's
// result.
#pragma once

#include <cstddef>
#include <utility>

namespace metal {
inline namespace SOFFIT_LANES_MODE {

using soffit::lanes::as_element;
using soffit::lanes::Native;
using soffit::lanes::Number;
using soffit::lanes::Stored;

template <class T, int n>
struct vec;

// A vector of variables is aligned to its size, one of three as one of four. What is in the middle of an expression
// lies nowhere.
template <class T>
constexpr ::size_t alignment(::size_t elements) {
  const ::size_t bytes = elements * sizeof(T);
  return (bytes & (bytes - 1)) == 0 ? bytes : alignof(T);
}

template <class T>
inline constexpr int kElements = 1;
template <class T, int n>
inline constexpr int kElements<vec<T, n>> = n;

// v.xy = …: what is written goes back to the elements named.
template <class T, int n, int... at>
struct Swizzle {
  vec<T, n>& whole;
  using Value = vec<T, sizeof...(at)>;
  constexpr operator Value() const { return Value(whole[at]...); }
  constexpr void operator=(const Value& from) {
    int i = 0;
    ((whole[at] = from[i++]), ...);
  }
  template <class U>
  constexpr void operator+=(const U& x) {
    *this = Value(*this) + x;
  }
  template <class U>
  constexpr void operator-=(const U& x) {
    *this = Value(*this) - x;
  }
  template <class U>
  constexpr void operator*=(const U& x) {
    *this = Value(*this) * x;
  }
};

// The elements' names come first, so that they lie in order.
#define SOFFIT_VEC_BODY(n)                                                                             \
  vec() = default;                                                                                     \
  constexpr vec(const vec& from) { soffit::lanes::load_elements(elements(), &from.x, alignof(vec)); }  \
  template <class U>                                                                                   \
  constexpr vec(const vec<U, n>& from) {                                                               \
    for (int i = 0; i < n; ++i) (*this)[i] = from[i];                                                  \
  }                                                                                                    \
  template <class... A>                                                                                \
  requires(sizeof...(A) > 1 && sizeof...(A) < n &&                                                     \
           (kElements<std::remove_cvref_t<A>> + ...) == n) constexpr explicit vec(const A&... parts) { \
    int at = 0;                                                                                        \
    (put(parts, at), ...);                                                                             \
  }                                                                                                    \
  constexpr vec& operator=(const vec& from) {                                                          \
    T copy[n];                                                                                         \
    soffit::lanes::load_elements(copy, &from.x, alignof(vec));                                         \
    soffit::lanes::store_elements<n>(&x, copy, alignof(vec));                                          \
    return *this;                                                                                      \
  }                                                                                                    \
  template <class U>                                                                                   \
  constexpr vec& operator=(const U& from) {                                                            \
    return *this = vec(from);                                                                          \
  }                                                                                                    \
  constexpr T& operator[](size_t i) { return reinterpret_cast<T*>(this)[i]; }                          \
  constexpr const T& operator[](size_t i) const { return reinterpret_cast<const T*>(this)[i]; }        \
  template <int... at>                                                                                 \
  constexpr vec<T, sizeof...(at)> swizzle() const {                                                    \
    return vec<T, sizeof...(at)>((*this)[at]...);                                                      \
  }                                                                                                    \
  template <int... at>                                                                                 \
  constexpr Swizzle<T, n, at...> swizzle_target() {                                                    \
    return {*this};                                                                                    \
  }                                                                                                    \
                                                                                                       \
 private:                                                                                              \
  constexpr T(&elements())[n] { return reinterpret_cast<T(&)[n]>(*this); }                             \
  template <Number A>                                                                                  \
  constexpr void put(const A& a, int& at) {                                                            \
    (*this)[at++] = a;                                                                                 \
  }                                                                                                    \
  template <class U, int m>                                                                            \
  constexpr void put(const vec<U, m>& a, int& at) {                                                    \
    for (int i = 0; i < m; ++i) (*this)[at++] = a[i];                                                  \
  }

template <class T>
struct alignas(alignment<T>(2)) vec<T, 2> {
  T x, y;
  template <Number A>
  constexpr vec(const A& a) : x(as_element<Native<T>>(a)), y(x) {}
  template <Number A, Number B>
  constexpr vec(const A& a, const B& b) : x(as_element<Native<T>>(a)), y(as_element<Native<T>>(b)) {}
  SOFFIT_VEC_BODY(2)
};
template <class T>
struct alignas(alignment<T>(4)) vec<T, 3> {
  T x, y, z;
  template <Number A>
  constexpr vec(const A& a) : x(as_element<Native<T>>(a)), y(x), z(x) {}
  template <Number A, Number B, Number C>
  constexpr vec(const A& a, const B& b, const C& c)
      : x(as_element<Native<T>>(a)), y(as_element<Native<T>>(b)), z(as_element<Native<T>>(c)) {}
  SOFFIT_VEC_BODY(3)
};
template <class T>
struct alignas(alignment<T>(4)) vec<T, 4> {
  T x, y, z, w;
  template <Number A>
  constexpr vec(const A& a) : x(as_element<Native<T>>(a)), y(x), z(x), w(x) {}
  template <Number A, Number B, Number C, Number D>
  constexpr vec(const A& a, const B& b, const C& c, const D& d)
      : x(as_element<Native<T>>(a)),
        y(as_element<Native<T>>(b)),
        z(as_element<Native<T>>(c)),
        w(as_element<Native<T>>(d)) {}
  SOFFIT_VEC_BODY(4)
};
#undef SOFFIT_VEC_BODY

// f(a[i], b[i] …) for every element.
template <int n, class F>
constexpr auto by_element(F&& f) {
  using E = std::remove_cvref_t<decltype(f(0))>;
  vec<E, n> result;
  for (int i = 0; i < n; ++i) result[i] = f(i);
  return result;
}

// Arithmetic of vectors is in the type of their elements: no promotion.
#define SOFFIT_VEC_OPERATOR(op)                                                           \
  template <class A, class B, int n>                                                      \
  constexpr auto operator op(vec<A, n> a, vec<B, n> b) {                                  \
    static_assert(std::is_same_v<Native<A>, Native<B>>, "vectors of different elements"); \
    return by_element<n>([&](int i) { return as_element<Native<A>>(a[i] op b[i]); });     \
  }                                                                                       \
  template <class A, int n, Number B>                                                     \
  constexpr auto operator op(vec<A, n> a, const B& b) {                                   \
    const auto y = as_element<Native<A>>(b);                                              \
    return by_element<n>([&](int i) { return as_element<Native<A>>(a[i] op y); });        \
  }                                                                                       \
  template <class B, int n, Number A>                                                     \
  constexpr auto operator op(const A& a, vec<B, n> b) {                                   \
    const auto x = as_element<Native<B>>(a);                                              \
    return by_element<n>([&](int i) { return as_element<Native<B>>(x op b[i]); });        \
  }                                                                                       \
  template <class A, int n, class B>                                                      \
  constexpr vec<A, n>& operator op##=(vec<A, n>& a, const B& b) {                         \
    return a = a op b;                                                                    \
  }
SOFFIT_VEC_OPERATOR(+)
SOFFIT_VEC_OPERATOR(-)
SOFFIT_VEC_OPERATOR(*)
SOFFIT_VEC_OPERATOR(/)
SOFFIT_VEC_OPERATOR(%)
SOFFIT_VEC_OPERATOR(&)
SOFFIT_VEC_OPERATOR(|)
SOFFIT_VEC_OPERATOR(^)
SOFFIT_VEC_OPERATOR(<<)
SOFFIT_VEC_OPERATOR(>>)
#undef SOFFIT_VEC_OPERATOR

#define SOFFIT_VEC_COMPARISON(op)                              \
  template <class A, class B, int n>                           \
  constexpr auto operator op(vec<A, n> a, vec<B, n> b) {       \
    return by_element<n>([&](int i) { return a[i] op b[i]; }); \
  }                                                            \
  template <class A, int n, Number B>                          \
  constexpr auto operator op(vec<A, n> a, const B& b) {        \
    return by_element<n>([&](int i) { return a[i] op b; });    \
  }                                                            \
  template <class B, int n, Number A>                          \
  constexpr auto operator op(const A& a, vec<B, n> b) {        \
    return by_element<n>([&](int i) { return a op b[i]; });    \
  }
SOFFIT_VEC_COMPARISON(<)
SOFFIT_VEC_COMPARISON(>)
SOFFIT_VEC_COMPARISON(<=)
SOFFIT_VEC_COMPARISON(>=)
SOFFIT_VEC_COMPARISON(==)
SOFFIT_VEC_COMPARISON(!=)
#undef SOFFIT_VEC_COMPARISON

template <class A, int n>
constexpr auto operator-(vec<A, n> a) {
  return by_element<n>([&](int i) { return as_element<Native<A>>(-a[i]); });
}
template <class A, int n>
constexpr auto operator~(vec<A, n> a) {
  return by_element<n>([&](int i) { return as_element<Native<A>>(~a[i]); });
}

// Columns of vectors.
template <class T, int columns, int rows>
struct matrix {
  vec<T, rows> column[columns];

  matrix() = default;
  template <Number A>
  constexpr explicit matrix(const A& diagonal) {
    for (int c = 0; c < columns; ++c) {
      column[c] = vec<T, rows>(0);
      if (c < rows) column[c][c] = diagonal;
    }
  }
  template <class U>
  requires(!std::is_same_v<T, U>) constexpr explicit matrix(const matrix<U, columns, rows>& from) {
    for (int c = 0; c < columns; ++c) column[c] = vec<T, rows>(from[c]);
  }
  template <class... A>
  requires(sizeof...(A) == columns && columns > 1 &&
           (std::is_convertible_v<A, vec<T, rows>> && ...)) constexpr explicit matrix(const A&... from) {
    int c = 0;
    ((column[c++] = vec<T, rows>(from)), ...);
  }
  constexpr vec<T, rows>& operator[](size_t c) { return column[c]; }
  constexpr const vec<T, rows>& operator[](size_t c) const { return column[c]; }
};

// Without an alignment of its own.
template <class T, int n>
struct packed_vec {
  T element[n];
  packed_vec() = default;
  template <class U>
  constexpr packed_vec(const vec<U, n>& from) {
    for (int i = 0; i < n; ++i) element[i] = from[i];
  }
  constexpr T& operator[](size_t i) { return element[i]; }
  constexpr const T& operator[](size_t i) const { return element[i]; }
  constexpr operator vec<T, n>() const {
    vec<T, n> value;
    for (int i = 0; i < n; ++i) value[i] = element[i];
    return value;
  }
};

}  // namespace SOFFIT_LANES_MODE
}  // namespace metal
