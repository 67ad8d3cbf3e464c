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
  rounded,   // products of weights that are rounded to fp16 where activations are fp16
};

// What a threadgroup of a mat-vec or mat-mat kernel has.
enum class Division : uint8_t {
  vectors,  // one column; for each simdgroup `rows` rows
  columns,  // up to 8 columns; for each simdgroup 4 times `rows` rows
  tiles,    // 64 rows and 32 columns, 4 simdgroups
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
  Division division;
  Tuning tuning;                    // by default
  std::span<const Tuning> tunings;  // all that it can do
};

// The launch of a kernel for `linear` or `linear_id`: threadgroups, and the function constant 2 where it has one. For
// linear_id a kernel by vectors has a threadgroup for each slot, one by tiles as many for each expert as all slots
// take.
struct LinearGrid {
  uint32_t x, y;     // threadgroups; z is 1, or the experts of linear_id's tiles
  uint32_t threads;  // of a threadgroup
  uint32_t batch;    // columns of a threadgroup; 0: no function constant 2
};
LinearGrid linear_grid(Division division, const Tuning& tuning, uint64_t rows, uint64_t n);

std::span<const Variant> variants();
// Null when there is none.
const Variant* find_variant(OperationKind operation, Format format, std::string_view name);

}  // namespace soffit::metal
