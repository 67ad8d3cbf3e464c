// Numbers of the checked mode. Every operator of a kernel goes through here: it counts itself, and every access to
// memory is checked.
//
//   Scalar<T>   a variable, of the size and alignment of T. Its address says whose memory it is.
//   Value<T>    what an operator or a load has given, with its flags
//   Product<T>  a product that is not rounded yet: added to something in the same expression it becomes one fma
//
// A plain number is a constant of the source: computing with constants alone costs nothing.
#pragma once

#include "lane.h"
#include "number.h"

namespace soffit::lanes {

inline namespace checked_mode {
template <class T>
struct Value;
template <class T>
struct Product;
template <class T>
class Scalar;
}  // namespace checked_mode

template <class T>
struct NativeOf<Scalar<T>> {
  using Type = T;
};
template <class T>
struct NativeOf<Value<T>> {
  using Type = T;
};
template <class T>
struct NativeOf<Product<T>> {
  using Type = T;
};

inline namespace checked_mode {

template <class T>
inline constexpr bool kConstant = std::is_arithmetic_v<T> || std::is_enum_v<T> || kSmallFloat<T>;
template <class T>
concept Instrumented = Number<T> && !kConstant<std::remove_cvref_t<T>>;
template <class T>
concept InstrumentedInteger = Instrumented<T> && std::is_integral_v<Native<T>>;

template <class T>
using Stored = Scalar<T>;
template <class T>
struct NativeConstantOf {
  using Type = T;
};
template <class T>
struct NativeConstantOf<Scalar<T>> {
  using Type = T;
};
template <class T>
using NativeConstant = typename NativeConstantOf<std::remove_const_t<T>>::Type;

constexpr uint32_t current_site() { return std::is_constant_evaluated() ? 0 : lane().site; }
constexpr void count_at(uint32_t site, Cost cost, uint32_t slots, Flags flags) {
  if (std::is_constant_evaluated()) return;
  Lane& l = lane();
  l.counts[(l.base + site) * kCosts + uint32_t(flags & kData ? cost : Cost::index)] += slots;
}

constexpr void count(Cost cost, uint32_t slots, Flags flags) { count_at(current_site(), cost, slots, flags); }
template <class T>
constexpr void count_conversion(Flags flags) {
  count(std::is_same_v<T, bool> ? Cost::integer : Cost::conversion, std::is_same_v<T, bool> ? kSlot : kConversionSlots,
        flags);
}

template <class T>
struct Value {
  T v;
  Flags flags;

  Value() = default;
  constexpr Value(T value, Flags f) : v(value), flags(f) {}
  // Only towards the type that arithmetic would have, so that both sides of ?: agree on one.
  template <class U>
  requires(!std::is_same_v<T, U> && std::is_same_v<Common<T, U>, T>) constexpr Value(Value<U> from);
  constexpr operator T() const { return v; }
};

// a * b, of which `v` is the rounded value.
template <class T>
struct Product {
  T a, b, v;
  Flags flags;
  uint32_t site;  // of the multiplication
  constexpr operator T() const { return v; }
};

template <class T>
class Scalar {
 public:
  T v;

  Scalar() = default;
  constexpr Scalar(const Scalar& from);
  template <Number U>
  constexpr Scalar(const U& from);
  constexpr Scalar& operator=(const Scalar& from);
  template <Number U>
  constexpr Scalar& operator=(const U& from);
  constexpr operator T() const;
};

// Reading -------------------------------------------------------------------------------------------------------------

template <size_t bytes>
using Word =
    std::conditional_t<bytes == 1, uint8_t,
                       std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

template <class T>
requires kConstant<T>
constexpr auto read(const T& constant) { return Value<Native<T>>(constant, kIndex); }
template <class T>
constexpr Value<T> read(const Value<T>& value) {
  return value;
}
template <class T>
constexpr Value<T> read(const Product<T>& product) {
  return Value<T>(product.v, product.flags);
}
template <class T>
constexpr Value<T> read(const Scalar<T>& from) {
  if (std::is_constant_evaluated()) return Value<T>(from.v, kIndex);
  const Scalar<T>* at = &from;
  asm("" : "+r"(at));  // a reference promises readable memory; this one may be anything
  if (on_stack(at)) {
    Word<sizeof(T)> flags;
    std::memcpy(&flags, shadow(at), sizeof(T));
    return Value<T>(at->v, flags ? kData : kIndex);
  }
  Value<T> value;
  Lane& l = lane();
  value.flags = l.hooks->load(l, at, sizeof(T), sizeof(T), &value.v);
  return value;
}

template <class T>
constexpr void write(Scalar<T>& to, Value<T> value) {
  if (std::is_constant_evaluated()) {
    to.v = value.v;
    return;
  }
  Scalar<T>* at = &to;
  asm("" : "+r"(at));
  if (on_stack(at)) {
    at->v = value.v;
    const auto flags = Word<sizeof(T)>(value.flags * (Word<sizeof(T)>(~Word<sizeof(T)>(0)) / 255));
    std::memcpy(shadow(at), &flags, sizeof(T));
    return;
  }
  Lane& l = lane();
  l.hooks->store(l, at, sizeof(T), sizeof(T), &value.v, value.flags);
}

// Conversion. Between integers, and between half and float, it is free.
template <class To, Number A>
constexpr Value<To> convert(const A& from) {
  using From = Native<A>;
  const Value<From> value = read(from);
  if constexpr (std::is_integral_v<To> != std::is_integral_v<From> && !kConstant<A>) {
    count_conversion<std::conditional_t<std::is_same_v<From, bool> || std::is_same_v<To, bool>, bool, To>>(value.flags);
  }
  return Value<To>(converted<To>(value.v), value.flags);
}

template <class T>
template <class U>
requires(!std::is_same_v<T, U> && std::is_same_v<Common<T, U>, T>) constexpr Value<T>::Value(Value<U> from)
    : Value(convert<T>(from)) {}
template <class T>
constexpr Scalar<T>::Scalar(const Scalar& from) {
  write(*this, read(from));
}
template <class T>
template <Number U>
constexpr Scalar<T>::Scalar(const U& from) {
  write(*this, convert<T>(from));
}
template <class T>
constexpr Scalar<T>& Scalar<T>::operator=(const Scalar& from) {
  write(*this, read(from));
  return *this;
}
template <class T>
template <Number U>
constexpr Scalar<T>& Scalar<T>::operator=(const U& from) {
  write(*this, convert<T>(from));
  return *this;
}
template <class T>
constexpr Scalar<T>::operator T() const {
  return read(*this).v;
}

// Operators -----------------------------------------------------------------------------------------------------------

template <class R>
inline constexpr Cost kArithmetic = std::is_integral_v<R> ? Cost::integer : Cost::floating;

template <class Operation, uint32_t slots, Number A, Number B>
constexpr auto binary(const A& a, const B& b) {
  using R = Common<Native<A>, Native<B>>;
  const Value<R> x = convert<R>(a), y = convert<R>(b);
  const Flags flags = x.flags | y.flags;
  count(kArithmetic<R>, slots, flags);
  using Result = decltype(Operation::of(x.v, y.v));
  return Value<Result>(Operation::of(x.v, y.v), flags);
}

template <class T>
inline constexpr bool kIsProduct = false;
template <class T>
inline constexpr bool kIsProduct<Product<T>> = true;

// +-a * b + addend. The product has been counted as it was made, and the addition comes with it; unless only the addend
// makes it one of data: then it counts now, where it was made.
template <class R>
constexpr Value<R> add_product(const Product<R>& p, Value<R> addend, bool negative) {
  const Flags flags = p.flags | addend.flags;
  if (flags != p.flags) count_at(p.site, Cost::floating, kSlot, flags);
  const R a = negative ? R(-p.a) : p.a;
  if (!std::is_constant_evaluated() && lane().contract) return Value<R>(fused<R>(a, p.b, addend.v), flags);
  return Value<R>(R((negative ? R(-p.v) : p.v) + addend.v), flags);
}

struct Add {
  static constexpr auto of(auto x, auto y) { return decltype(x)(x + y); }
};
struct Subtract {
  static constexpr auto of(auto x, auto y) { return decltype(x)(x - y); }
};

template <Number A, Number B>
requires(Instrumented<A> || Instrumented<B>) constexpr auto operator+(const A& a, const B& b) {
  using R = Common<Native<A>, Native<B>>;
  if constexpr (kIsProduct<A> && std::is_same_v<Native<A>, R>) {
    return add_product<R>(a, convert<R>(b), false);
  } else if constexpr (kIsProduct<B> && std::is_same_v<Native<B>, R>) {
    return add_product<R>(b, convert<R>(a), false);
  } else {
    return binary<Add, kSlot>(a, b);
  }
}
template <Number A, Number B>
requires(Instrumented<A> || Instrumented<B>) constexpr auto operator-(const A& a, const B& b) {
  using R = Common<Native<A>, Native<B>>;
  if constexpr (kIsProduct<A> && std::is_same_v<Native<A>, R>) {
    const Value<R> y = convert<R>(b);
    return add_product<R>(a, Value<R>(R(-y.v), y.flags), false);
  } else if constexpr (kIsProduct<B> && std::is_same_v<Native<B>, R>) {
    return add_product<R>(b, convert<R>(a), true);
  } else {
    return binary<Subtract, kSlot>(a, b);
  }
}

struct Multiply {
  static constexpr auto of(auto x, auto y) { return decltype(x)(x * y); }
};
template <Number A, Number B>
requires(Instrumented<A> || Instrumented<B>) constexpr auto operator*(const A& a, const B& b) {
  using R = Common<Native<A>, Native<B>>;
  if constexpr (std::is_integral_v<R>) {
    return binary<Multiply, kMultiplySlots>(a, b);
  } else {
    const Value<R> x = convert<R>(a), y = convert<R>(b);
    const Flags flags = x.flags | y.flags;
    count(Cost::floating, kSlot, flags);
    return Product<R>{x.v, y.v, R(x.v * y.v), flags, current_site()};
  }
}

// By a constant it is a product with the reciprocal (exact for powers of two, as fast math has it for others); else a
// reciprocal and a product. Integers: a shift, a high product and a shift, or a sequence of about ten of them.
inline constexpr uint32_t kDivideByConstantSlots = 8, kDivideSlots = 40;

template <class R, bool constant>
constexpr uint32_t integer_division_slots(R by, uint32_t power_of_two) {
  if (!constant) return kDivideSlots;
  return (by & (by - 1)) == 0 ? power_of_two : kDivideByConstantSlots;
}
template <class R>
constexpr bool can_divide(R x, R y) {
  if (y == 0) {
    if (!std::is_constant_evaluated()) lane().hooks->fault(lane(), "integer division by zero");
    return false;
  }
  return !std::is_signed_v<R> || y != R(-1) || R(0 - std::make_unsigned_t<R>(x)) != x || x == 0;
}

template <Number A, Number B>
requires(Instrumented<A> || Instrumented<B>) constexpr auto operator/(const A& a, const B& b) {
  using R = Common<Native<A>, Native<B>>;
  const Value<R> x = convert<R>(a), y = convert<R>(b);
  const Flags flags = x.flags | y.flags;
  if constexpr (std::is_integral_v<R>) {
    count(Cost::integer, integer_division_slots<R, kConstant<B>>(y.v, kShiftSlots), flags);
    return Value<R>(can_divide(x.v, y.v) ? R(x.v / y.v) : x.v, flags);
  } else if constexpr (kConstant<B>) {
    count(Cost::floating, kSlot, flags);
    return Product<R>{x.v, R(R(1.0f) / y.v), R(x.v / y.v), flags, current_site()};
  } else {
    count(Cost::special, kReciprocalSlots, flags);
    count(Cost::floating, kSlot, flags);
    return Value<R>(R(x.v / y.v), flags);
  }
}
template <Number A, Number B>
requires(Instrumented<A> || Instrumented<B>) constexpr auto operator%(const A& a, const B& b) {
  using R = Common<Native<A>, Native<B>>;
  static_assert(std::is_integral_v<R>, "% is for integers");
  const Value<R> x = convert<R>(a), y = convert<R>(b);
  const Flags flags = x.flags | y.flags;
  count(Cost::integer, integer_division_slots<R, kConstant<B>>(y.v, kSlot), flags);
  return Value<R>(can_divide(x.v, y.v) ? R(x.v % y.v) : R(0), flags);
}

#define SOFFIT_BINARY(op, Name)                                                                     \
  struct Name {                                                                                     \
    static constexpr auto of(auto x, auto y) { return x op y; }                                     \
  };                                                                                                \
  template <Number A, Number B>                                                                     \
  requires(Instrumented<A> || Instrumented<B>) constexpr auto operator op(const A& a, const B& b) { \
    return binary<Name, kSlot>(a, b);                                                               \
  }
SOFFIT_BINARY(&, And)
SOFFIT_BINARY(|, Or)
SOFFIT_BINARY(^, Xor)
SOFFIT_BINARY(<, Less)
SOFFIT_BINARY(>, Greater)
SOFFIT_BINARY(<=, LessEqual)
SOFFIT_BINARY(>=, GreaterEqual)
SOFFIT_BINARY(==, Equal)
SOFFIT_BINARY(!=, Unequal)
#undef SOFFIT_BINARY

// The type is that of the left side; the device takes the amount modulo the width. By a constant 0 it is nothing.
template <bool left, Number A, Number B>
constexpr auto shifted(const A& a, const B& b) {
  using R = Promoted<Native<A>>;
  using Unsigned = std::make_unsigned_t<R>;
  const Value<R> x = convert<R>(a);
  const auto y = read(b);
  const Flags flags = x.flags | y.flags;
  if (!(kConstant<B> && y.v == 0)) count(Cost::integer, kShiftSlots, flags);
  const auto amount = unsigned(y.v) & (8 * sizeof(R) - 1);
  return Value<R>(left ? R(Unsigned(x.v) << amount) : R(x.v >> amount), flags);
}
template <Number A, Number B>
requires(Instrumented<A> || Instrumented<B>) constexpr auto operator<<(const A& a, const B& b) {
  return shifted<true>(a, b);
}
template <Number A, Number B>
requires(Instrumented<A> || Instrumented<B>) constexpr auto operator>>(const A& a, const B& b) {
  return shifted<false>(a, b);
}

template <Instrumented A>
constexpr auto operator+(const A& a) {
  return convert<Promoted<Native<A>>>(a);
}
template <Instrumented A>
constexpr auto operator-(const A& a) {
  using R = Promoted<Native<A>>;
  if constexpr (kIsProduct<A>) {
    return A{R(-a.a), a.b, R(-a.v), a.flags, a.site};
  } else {
    const Value<R> x = convert<R>(a);
    if constexpr (std::is_integral_v<R>) count(Cost::integer, kSlot, x.flags);  // of a float it is part of the operand
    return Value<R>(R(-x.v), x.flags);
  }
}
template <InstrumentedInteger A>
constexpr auto operator~(const A& a) {
  using R = Promoted<Native<A>>;
  const Value<R> x = convert<R>(a);
  count(Cost::integer, kSlot, x.flags);
  return Value<R>(R(~x.v), x.flags);
}

#define SOFFIT_COMPOUND(op)                                       \
  template <class T, Number B>                                    \
  constexpr Scalar<T>& operator op##=(Scalar<T>& a, const B& b) { \
    return a = a op b;                                            \
  }
SOFFIT_COMPOUND(+)
SOFFIT_COMPOUND(-)
SOFFIT_COMPOUND(*)
SOFFIT_COMPOUND(/)
SOFFIT_COMPOUND(%)
SOFFIT_COMPOUND(&)
SOFFIT_COMPOUND(|)
SOFFIT_COMPOUND(^)
SOFFIT_COMPOUND(<<)
SOFFIT_COMPOUND(>>)
#undef SOFFIT_COMPOUND

template <class T>
constexpr Scalar<T>& operator++(Scalar<T>& a) {
  return a += T(1);
}
template <class T>
constexpr Scalar<T>& operator--(Scalar<T>& a) {
  return a -= T(1);
}
template <class T>
constexpr Value<T> operator++(Scalar<T>& a, int) {
  const Value<T> before = read(a);
  a = before + T(1);
  return before;
}
template <class T>
constexpr Value<T> operator--(Scalar<T>& a, int) {
  const Value<T> before = read(a);
  a = before - T(1);
  return before;
}

// Pointers: an addition. (An element access p[i] is part of the load.)
template <class T, InstrumentedInteger I>
constexpr T* operator+(T* p, const I& i) {
  const auto offset = read(i);
  count(Cost::integer, kSlot, offset.flags);
  return p + offset.v;
}
template <class T, InstrumentedInteger I>
constexpr T* operator+(const I& i, T* p) {
  return p + i;
}
template <class T, InstrumentedInteger I>
constexpr T* operator-(T* p, const I& i) {
  const auto offset = read(i);
  count(Cost::integer, kSlot, offset.flags);
  return p - offset.v;
}
template <class T, InstrumentedInteger I>
constexpr T*& operator+=(T*& p, const I& i) {
  return p = p + i;
}
template <class T, InstrumentedInteger I>
constexpr T*& operator-=(T*& p, const I& i) {
  return p = p - i;
}

// For functions of the library
// -----------------------------------------------------------------------------------------

template <Number A>
constexpr Native<A> native_value(const A& a) {
  return read(a).v;
}
template <Number... A>
constexpr Flags flags_of(const A&... a) {
  return Flags((kIndex | ... | read(a).flags));
}
template <class T>
constexpr Value<T> with_flags(T value, Flags flags) {
  return Value<T>(value, flags);
}

// A function of numbers that costs `slots`, applied.
template <Cost cost, uint32_t slots, Number... A>
constexpr auto applied(auto&& function, const A&... a) {
  return [&](auto... x) {
    const Flags flags = (kIndex | ... | x.flags);
    if constexpr (slots != 0) count(cost, slots, flags);
    using Result = decltype(function(x.v...));
    return Value<Result>(function(x.v...), flags);
  }(read(a)...);
}
// The same for functions of float, that half goes through too.
template <Cost cost, uint32_t slots, Number... A>
constexpr auto applied_float(auto&& function, const A&... a) {
  using R = std::common_type_t<Native<A>...>;
  return applied<cost, slots>(
      [&](auto... x) {
        if constexpr (kSmallFloat<R>) {
          return R(function(float(x)...));
        } else {
          return function(R(x)...);
        }
      },
      a...);
}
template <Number A, Number B, Number C>
constexpr auto fused_multiply_add(const A& a, const B& b, const C& c) {
  using R = Common<Common<Native<A>, Native<B>>, Native<C>>;
  const Value<R> x = convert<R>(a), y = convert<R>(b), z = convert<R>(c);
  const Flags flags = x.flags | y.flags | z.flags;
  count(Cost::floating, kSlot, flags);
  return Value<R>(fused<R>(x.v, y.v, z.v), flags);
}

// As an element of a vector of E; a product stays one.
template <class E, Number A>
constexpr auto as_element(const A& a) {
  if constexpr (std::is_same_v<A, Product<E>>) {
    return a;
  } else {
    return convert<E>(a);
  }
}

// All elements of a vector in one access.
template <class T, int n>
constexpr void load_elements(T (&to)[n], const T* from, size_t) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
template <class T, int n>
inline void load_elements(Scalar<T> (&to)[n], const Scalar<T>* from, size_t alignment) {
  asm("" : "+r"(from));
  if (on_stack(from)) {
    for (int i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  T values[n];
  Lane& l = lane();
  const Flags flags = l.hooks->load(l, from, sizeof values, uint32_t(alignment), values);
  for (int i = 0; i < n; ++i) to[i] = Value<T>(values[i], flags);
}
template <int n, class T>
constexpr void store_elements(T* to, const T (&from)[n], size_t) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
template <int n, class T>
inline void store_elements(Scalar<T>* to, const Scalar<T> (&from)[n], size_t alignment) {
  asm("" : "+r"(to));
  if (on_stack(to)) {
    for (int i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  T values[n];
  Flags flags = kIndex;
  for (int i = 0; i < n; ++i) {
    const Value<T> value = read(from[i]);
    values[i] = value.v;
    flags |= value.flags;
  }
  Lane& l = lane();
  l.hooks->store(l, to, sizeof values, uint32_t(alignment), values, flags);
}

}  // namespace checked_mode
}  // namespace soffit::lanes
