// The headers that a compiled kernel needs, inside the program: what is compiled at run time fits what runs it,
// wherever the program lies. The file with the contents is written by the build.
#pragma once

#include <string_view>

namespace soffit::lanes {

struct EmbeddedFile {
  const char* name;  // "shim/lane.h", "metal/metal_stdlib", "core/half.hpp"
  std::string_view contents;
};
extern const EmbeddedFile kEmbeddedFiles[];
extern const unsigned kEmbeddedFileCount;

}  // namespace soffit::lanes
