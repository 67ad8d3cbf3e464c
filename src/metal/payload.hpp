// Which bytes of a format's block are codes: quants and their high bits, not scales.
#pragma once

#include "lanes/launch.hpp"
#include "soffit/format.hpp"

namespace soffit::metal {

lanes::BlockLayout block_layout(Format format);

}  // namespace soffit::metal
