// Code points whose class PCRE2's tables do not know in every version. PCRE2 10.42 has Unicode 14, llama.cpp's tables
// Unicode 15.1: what was added between is listed here, so that ids do not depend on the library installed.
// Source: UnicodeData.txt of Unicode 15.1, general categories; made by comparing the two for every code point.
#pragma once

#include <cstdint>

namespace soffit::text {

// A code point of the same general category group (L, M, N or P) and the same UTF-8 length that all of PCRE2's
// versions know; 0 when none is needed. A surrogate, which is not valid UTF-8, gets a private-use character: neither
// letter, number, mark, punctuation nor white space, like itself.
uint32_t class_stand_in(uint32_t code_point);

}  // namespace soffit::text
