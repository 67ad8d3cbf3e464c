// What the test program allocates: operator new is replaced.
#pragma once

#include <cstddef>

namespace soffit::gguf::test {

void reset_largest_allocation();
size_t largest_allocation();  // since the last reset, in bytes

}  // namespace soffit::gguf::test
