// Weights for checks: the bytes of random blocks.
#pragma once

#include <cstddef>
#include <span>

#include "check/random.hpp"
#include "soffit/format.hpp"

namespace soffit::checker {

enum class Blocks : uint8_t {
  random,     // codes and group scales of every value, block scales of moderate size and both signs; what an encoder
              // could have written
  any_bytes,  // codes of every byte value, also those that no encoder writes
  zeros,      // every bit of codes and group scales is 0
  ones,       // every bit is 1: the largest codes of most formats
};
const char* to_string(Blocks blocks);

// Whole blocks of the format.
void fill_blocks(Format format, Blocks kind, Random& random, std::span<std::byte> bytes);

}  // namespace soffit::checker
