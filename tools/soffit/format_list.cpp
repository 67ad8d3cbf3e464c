#include "format_list.hpp"

#include <fmt/format.h>

#include "console.hpp"

namespace soffit::tool {
namespace {

std::string supported_formats() {
  std::string names;
  for (const FormatInfo& format : all_formats()) {
    if (format.supported) names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return names;
}

}  // namespace

Result<std::vector<Format>> parse_formats(std::string_view text) {
  std::vector<Format> formats;
  if (text == "all") {
    for (const FormatInfo& format : all_formats()) {
      if (format.supported) formats.push_back(Format(format.id));
    }
    return formats;
  }
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    const FormatInfo* format = find_format(name);
    if (!format || !format->supported) {
      return unsupported(fmt::format("{} '{}'; there are {}", format ? "no kernels for format" : "unknown format",
                                     printable(name), supported_formats()));
    }
    formats.push_back(Format(format->id));
    if (comma == std::string_view::npos) return formats;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace soffit::tool
