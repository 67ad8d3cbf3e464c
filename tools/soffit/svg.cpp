#include "svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "console.hpp"

namespace soffit::tool {

std::string escaped_xml(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    result += c == '&'    ? "&amp;"
              : c == '<'  ? "&lt;"
              : c == '>'  ? "&gt;"
              : c == '"'  ? "&quot;"
              : c == '\'' ? "&apos;"
                          : std::string(1, c);
  }
  return result;
}

size_t letters(const std::string& text) {
  return size_t(std::ranges::count_if(text, [](char c) { return (uint8_t(c) & 0xc0) != 0x80; }));
}

std::string hsl(double hue, double saturation, double lightness) {
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue / 30, 12), a = saturation * std::min(lightness, 1 - lightness);
    return int(std::lround(255 * (lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0})))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

}  // namespace soffit::tool
