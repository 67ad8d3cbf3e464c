// A number in an anonymous struct, where C++ wants members without constructors. It is read and written as any other.
// Only for sources that have such structs (ggml's blocks do).
#pragma once

#include "checked.h"

namespace soffit::lanes {

inline namespace checked_mode {
template <class T>
struct Member;
}
template <class T>
struct NativeOf<Member<T>> {
  using Type = T;
};

inline namespace checked_mode {

template <class T>
struct Member {
  Word<sizeof(T)> bits;
  template <Number U>
  Member& operator=(const U& from) {
    reinterpret_cast<Scalar<T>&>(*this) = from;
    return *this;
  }
  operator T() const { return read(*this).v; }
};

template <class T>
Value<T> read(const Member<T>& from) {
  return read(reinterpret_cast<const Scalar<T>&>(from));
}

}  // namespace checked_mode
}  // namespace soffit::lanes
