// Blocks of TQ1_0 to floats by the kernels of dequantize_tq1_0.metal, on the lanes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "lanes/launch.hpp"
#include "metal/lane_linear.hpp"

namespace soffit::metal {

struct DequantizeVariant {
  Format format;
  std::string_view name;
  std::string_view kernel;
  uint32_t threads_per_block;  // of 256 elements
  const lanes::Library* (*plain)();
  const lanes::Library* (*checked)();
};
std::span<const DequantizeVariant> dequantize_variants();
const DequantizeVariant* find_dequantize_variant(Format format, std::string_view name);

struct Dequantized {
  std::vector<float> values;
  lanes::Outcome outcome;
};
// `bytes` are whole blocks.
Result<Dequantized> run_dequantize(const DequantizeVariant& variant, std::span<const std::byte> bytes,
                                   const LaneOptions& options);

}  // namespace soffit::metal
