// The kernels of src/metal, by operation, format and variant.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lanes/shim/library.h"
#include "soffit/format.hpp"
#include "soffit/operation.hpp"

namespace soffit::metal {

// How a mat-vec kernel cuts up its work: its function constants 0 and 1, which make its grid.
struct Tuning {
  uint32_t simdgroups;  // of a threadgroup
  uint32_t rows;        // of a simdgroup
  bool operator==(const Tuning&) const = default;
};

// What a kernel adds up, which says how far its results may be from the exact ones; see linear_problem.cpp.
enum class Terms : uint8_t {
  products,  // of codes, or of decoded weights
  floors,    // of TQ1_0 bytes times powers of 3
  offsets,   // codes and an offset, that is taken off again
};

struct Variant {
  OperationKind operation;
  Format format;
  std::string_view name;    // "seed"
  std::string_view kernel;  // "linear_q4_k_seed"; its entries have _f32 or _f16 behind, for activations and results
  std::string_view about;
  const lanes::Library* (*plain)();
  const lanes::Library* (*checked)();
  Terms terms;
  Tuning tuning;                    // by default
  std::span<const Tuning> tunings;  // all that it can do
};

std::span<const Variant> variants();
// Null when there is none.
const Variant* find_variant(OperationKind operation, Format format, std::string_view name);

}  // namespace soffit::metal
