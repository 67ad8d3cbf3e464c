// The activation functions of gated feed-forward layers.
#pragma once

#include <cstdint>

namespace soffit {

enum class Activation : uint8_t { none, silu, gelu_tanh };

}  // namespace soffit
