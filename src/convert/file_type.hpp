// The value of general.file_type (llama.cpp's LLAMA_FTYPE): what most of a file's matrices are in. Informative only.
#pragma once

#include <cstdint>

#include "soffit/format.hpp"

namespace soffit::convert {

inline constexpr uint32_t kFileTypeQ4KM = 15;

// Of a file whose matrices are all in one format.
constexpr uint32_t file_type(Format format) {
  switch (format) {
    case Format::f32:
      return 0;
    case Format::f16:
      return 1;
    case Format::q4_0:
      return 2;
    case Format::q4_1:
      return 3;
    case Format::q8_0:
      return 7;
    case Format::q5_0:
      return 8;
    case Format::q5_1:
      return 9;
    case Format::q2_k:
      return 10;
    case Format::q3_k:
      return 11;  // llama.cpp's "small" variants of Q3_K, Q4_K and Q5_K are the plainest
    case Format::q4_k:
      return 14;
    case Format::q5_k:
      return 16;
    case Format::q6_k:
      return 18;
    case Format::iq4_nl:
      return 25;
    case Format::iq4_xs:
      return 30;
    case Format::bf16:
      return 32;
    case Format::tq1_0:
      return 36;
    case Format::tq2_0:
      return 37;
    case Format::mxfp4:
      return 38;
  }
  return 1024;  // "guessed": not said in the file
}

}  // namespace soffit::convert
