// Messages from texts and numbers.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace soffit {

inline std::string_view to_text(std::string_view text) { return text; }
template <std::integral T>
std::string to_text(T number) {
  return std::to_string(number);
}

// concat("tensor ", name, " has ", 3, " dimensions")
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string result;
  (result.append(to_text(parts)), ...);
  return result;
}

}  // namespace soffit
