// From preprocessed Metal source to C++ for the headers in shim/, or to CUDA C++.
//
// The text stays what it is, line by line: address spaces and attributes go, names of types become those of the shim,
// and in the checked mode each operator gets its site (shim/site.h), each statement its place, each function and loop
// its scope. Kernels, function constants and tables are listed in a Library (shim/library.h) at the end.
//
// What the translator does not know it names by line: textures, atomics, tensors, lambdas and so on. What Metal does
// not have and C++ has it refuses likewise: double, std, exceptions, recursion, pointers without an address space …
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "soffit/status.hpp"

namespace soffit::lanes {

enum class Mode : uint8_t { plain, checked, cuda };  // cuda: for nvcc, threads for lanes and warps for simdgroups

// A kernel template made a kernel. One that the source instantiates itself is there without being asked for.
struct Instantiation {
  std::string kernel;
  std::vector<std::string> arguments;
};

struct TranslationRequest {
  Mode mode = Mode::plain;
  std::string source_name;     // as Library::source and in messages
  std::string library_symbol;  // of the extern "C" function that returns the Library or CudaLibrary
  std::vector<Instantiation> instantiations;
  std::vector<std::string>* remarks = nullptr;  // what Metal takes, and perhaps not as it was meant; by line
};

Result<std::string> translate(std::string_view preprocessed, const TranslationRequest& request);

}  // namespace soffit::lanes
