// What the program's pictures share.
#pragma once

#include <string>

namespace soffit::tool {

// Text as the contents of an element or attribute.
std::string escaped_xml(const std::string& text);
// Characters of UTF-8.
size_t letters(const std::string& text);
// "#rrggbb" of a hue in degrees, saturation and lightness from 0 to 1.
std::string hsl(double hue, double saturation, double lightness);

}  // namespace soffit::tool
