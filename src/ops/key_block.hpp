#pragma once

#include <cstdint>

namespace soffit {

// Keys are kept in blocks of this many.
inline constexpr int64_t kKeyBlock = 64;

}  // namespace soffit
