// A vocabulary of byte-level BPE of a wanted size: the 256 bytes, then tokens that merges make, then the family's real
// special tokens, then padding. Any text can be tokenised. The made tokens are the strings of one to four letters, with
// and without a space before, those of the commonest letters first, so that English takes a plausible number of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "synth/shape.hpp"

namespace soffit::synth {

struct Vocabulary {
  std::string_view pre;  // GGUF's name of the pre-tokeniser
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  std::vector<std::string> merges;
  uint32_t begin = 0, end = 0, padding = 0;  // ids
  bool add_begin = false;
  std::string_view chat_template;
};

// An error when the shape's numbers of tokens are too small or too large.
Result<Vocabulary> make_vocabulary(const Shape& shape);

}  // namespace soffit::synth
