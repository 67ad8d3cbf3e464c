// The names of Metal that the translator knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace soffit::lanes {

bool is_address_space(std::string_view name);
// int, unsigned, float …: the words that make the type of a number, alone or together.
bool is_type_word(std::string_view name);
// half, uint, float4, packed_float3, half4x4, simdgroup_float8x8 …
bool is_type_name(std::string_view name);
// vec, matrix, array …: types with arguments.
bool is_type_template(std::string_view name);
// Functions with template arguments, and casts.
bool is_function_template(std::string_view name);
bool is_library_function(std::string_view name);
// Why a word of the language is refused; nullopt when it is not.
std::optional<std::string_view> refusal(std::string_view name);

// "xyz" or "rgb" as "0, 1, 2"; empty when it names no elements of a vector, or a single one.
std::string swizzle_indices(std::string_view name);

}  // namespace soffit::lanes
