// Metal source as C++ for OpenCL, for one purpose: a compiler that knows address spaces says what is wrong with it.
//
//   device, threadgroup, constant, thread   macros of opencl/metal.h
//   [[…]]                                   gone, and `kernel`: the language has rules of its own for kernels
//   float4(a, b)                            constructed<float4>(a, b)
//   threadgroup T a[n];                     a reference to such an array
//   a function constant                     extern
//
// Lines stay those of the source.
#pragma once

#include <string>
#include <string_view>

#include "soffit/status.hpp"

namespace soffit::lanes {

// `preprocessed` as for translate().
Result<std::string> to_opencl(std::string_view preprocessed, std::string_view source_name);

}  // namespace soffit::lanes
