// Formats by name, as options take them.
#pragma once

#include <string_view>
#include <vector>

#include "soffit/format.hpp"
#include "soffit/status.hpp"

namespace soffit::tool {

// "q4_k,q6_k" or "all". Of formats that have kernels; the error lists them.
Result<std::vector<Format>> parse_formats(std::string_view text);

}  // namespace soffit::tool
