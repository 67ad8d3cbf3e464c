// GGUF metadata as JSON and as short text.
#pragma once

#include <string>

#include "soffit/gguf.hpp"
#include "table.hpp"

namespace soffit::tool {

// Exactly, but for what JSON has no form for: NaN and infinities are null, bytes that are not UTF-8 become U+FFFD.
Json to_json(const gguf::Value& value);
// "u32", "string[49152]"
std::string type_text(const gguf::Value& value);
// The value in at most about `columns` characters, ending in "…" if it is longer; not yet made printable.
std::string value_text(const gguf::Value& value, size_t columns);

}  // namespace soffit::tool
