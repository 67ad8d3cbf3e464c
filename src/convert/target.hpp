// Which format each tensor of a file gets when the file is requantised.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "soffit/format.hpp"
#include "soffit/gguf.hpp"

namespace soffit::convert {

// Tensors whose whole name matches the shell pattern (*, ?, […]) get this format.
struct Override {
  std::string pattern;
  Format format = Format::f16;
};

struct Target {
  const FormatInfo* format = nullptr;  // of the new file; the tensor's own where it stays
  // What was asked for, where the tensor's rows are no multiple of its block and `format` stands in for it.
  std::optional<Format> wanted;
};

// Converted are matrices named *.weight; vectors, norms, the routers of mixtures of experts and short convolutions
// stay as they are. Overrides go before that, for every tensor of two rows or more; of several that match the last
// counts, and one that matches no such tensor is an error.
Result<std::vector<Target>> choose_targets(const gguf::File& file, Format format, std::span<const Override> overrides);

// What stands in for a format when rows of `cols` are no multiple of its block: of blocks of 256 elements the format
// with blocks of 32 that is next in size or, for the ternary ones, the smallest; then f16.
Format format_that_fits(Format wanted, int64_t cols);

}  // namespace soffit::convert
