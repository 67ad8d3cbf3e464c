// What a kernel's parameter becomes of a position.
#pragma once

#include "library.h"

namespace soffit::lanes {

template <class T>
inline constexpr int kPositionElements = metal::kElements<T>;

template <class T>
constexpr PositionArgument::operator T() const {
  if constexpr (kPositionElements<T> == 1) {
    return T(at.x);
  } else if constexpr (kPositionElements<T> == 2) {
    return T(at.x, at.y);
  } else {
    return T(at.x, at.y, at.z);
  }
}

}  // namespace soffit::lanes
