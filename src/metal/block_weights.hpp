// Which weights of a block a byte of it holds, as the reference decodes it.
#pragma once

#include <cstdint>
#include <vector>

#include "soffit/format.hpp"

namespace soffit::metal {

// For each byte of a block the weights whose codes have bits in it, ascending; empty for scales.
std::vector<std::vector<uint32_t>> weights_of_bytes(Format format);

}  // namespace soffit::metal
