// What the bytes of a block mean, written a second time from the description of the formats: element by element, by
// byte offsets, in double precision. Shares nothing with src/formats.
#pragma once

#include <cstdint>
#include <vector>

#include "soffit/format.hpp"

namespace oracle {

struct Element {
  int code;         // as stored
  int scale = 0;    // as stored, of the element's group, where the format has scales of groups
  int minimum = 0;  // likewise
  double value;
};

Element element(soffit::Format format, const uint8_t* block, int index);

// How many values each may take, and the elements of a group.
struct Shape {
  int codes, scales, minima, group;
};
Shape shape(soffit::Format format);

// Byte offsets of the fp16 fields of a block.
std::vector<int> half_fields(soffit::Format format);

double half(uint16_t bits);
double bfloat(uint16_t bits);

}  // namespace oracle
