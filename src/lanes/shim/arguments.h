// How kernels get their parameters and their threadgroup variables.
#pragma once

#include "library.h"

namespace soffit::lanes {

template <class T>
inline constexpr int kPositionElements = metal::kElements<T>;

template <class T>
PositionArgument::operator T() const {
  if constexpr (kPositionElements<T> == 1) {
    return T(at.x);
  } else if constexpr (kPositionElements<T> == 2) {
    return T(at.x, at.y);
  } else {
    return T(at.x, at.y, at.z);
  }
}

inline BufferArgument buffer_argument(const Arguments& arguments, uint32_t index) { return {arguments.buffers[index]}; }
inline BufferArgument threadgroup_argument(const Arguments& arguments, uint32_t index) {
  return {arguments.threadgroup[index]};
}
inline PositionArgument position_argument(const Arguments& arguments, Parameter kind) {
  return {arguments.position[uint32_t(kind)]};
}

template <class T>
T& threadgroup_variable(uint32_t id) {
  Lane& l = lane();
  return *static_cast<T*>(l.hooks->threadgroup_variable(l, id, sizeof(T), alignof(T) < 16 ? 16 : alignof(T)));
}

}  // namespace soffit::lanes
