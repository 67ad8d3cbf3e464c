// Reads everything that an opened file offers. Shared by tests and the fuzzer.
#pragma once

#include <cstddef>
#include <span>

#include "soffit/gguf.hpp"

namespace soffit::gguf::test {

// Null, or what does not hold: values and tensors lie in `bytes`, are found by name, and have their sizes; tensors do
// not overlap. Every conversion of every value is tried.
const char* touch_everything(const File& file, std::span<const std::byte> bytes);

}  // namespace soffit::gguf::test
