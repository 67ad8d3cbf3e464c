// Every .metal file of this folder as it is compiled for the lanes (cmake/soffit_metal.cmake makes the list).
#pragma once

#include <span>

#include "lanes/shim/library.h"

namespace soffit::metal {

struct LaneLibrary {
  const lanes::Library* (*plain)();
  const lanes::Library* (*checked)();
};
std::span<const LaneLibrary> lane_libraries();

}  // namespace soffit::metal
