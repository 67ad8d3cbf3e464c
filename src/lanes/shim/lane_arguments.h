// How kernels get their parameters and their threadgroup variables from the runner.
#pragma once

#include "library.h"

namespace soffit::lanes {

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
