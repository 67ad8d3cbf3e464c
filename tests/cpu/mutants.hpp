// Kernels with a fault, for the test that every such fault is found.
#pragma once

#include "cpu/kernels.hpp"
#include "soffit/operation.hpp"

namespace soffit::test {

// Faults made in front of or behind a kernel of any instruction set.
enum class Fault : uint8_t {
  none,
  zeroed_row,           // one row of the results is zero
  dropped_block,        // the last block of columns is left out
  wrong_tail,           // the last row of a row tile that is not full gets its neighbour's result
  dropped_column_tail,  // columns behind the last 16 are left out (plain formats)
  swapped_rows,         // the scales of rows 0 and 1 of each tile are swapped
  shifted_block,        // each tile but the first is read with the scales of the tile before it
  wrong_token,          // the last of several tokens reads the activations of the one before it
};
const char* to_string(Fault fault);
bool applies(Fault fault, Format format);
// A copy of the table whose kernel of one format has the fault. There is one at a time.
const cpu::VectorKernels& faulty_kernels(const cpu::VectorKernels& base, Format format, Fault fault);

// Faults compiled into the scalar kernels, in what a tile says of its scales and codes.
enum class TileFault : uint8_t {
  none,
  swapped_scales,   // of the first two groups (of two rows, where a tile has one group)
  shifted_scales,   // each group has the scale of the one before it
  missing_minimum,  // the minima of the last group are zero
  wrong_code,       // one code of one lane is off by one
};
const char* to_string(TileFault fault);
bool applies(TileFault fault, Format format);
const cpu::VectorKernels& faulty_scalar_kernels(TileFault fault);

// How many cases of the suite's short form fail on these kernels: none, or one, for it stops there.
int failures(const cpu::VectorKernels& kernels, bool exact, Format format, OperationKind operation);
constexpr OperationKind kProducts[] = {OperationKind::linear, OperationKind::linear_id};

}  // namespace soffit::test
