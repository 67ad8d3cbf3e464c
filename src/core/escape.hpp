// Bytes of unknown origin made safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace soffit {

// Well-formed UTF-8 stays as it is; control characters (C0, DEL, C1) and bytes that are not UTF-8 become \n, \r, \t or
// \xNN. A text of more than `max_bytes` is cut there and ends in "…".
std::string escaped(std::string_view text, size_t max_bytes = std::string_view::npos);

// Bytes of the well-formed UTF-8 character at the start of `text`; 0 when there is none (Unicode 15, table 3-7).
size_t utf8_length(std::string_view text);

}  // namespace soffit
