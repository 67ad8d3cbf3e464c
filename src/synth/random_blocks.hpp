// Random weights written directly as blocks, without an encoder: every code an encoder writes occurs, scales are
// finite, of the size that gives the weights the wanted deviation, and differ from block to block. Files are thus as
// fast to make as to write, and do not change when an encoder does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "soffit/format.hpp"

namespace soffit::synth {

// Of a row of numbered seeds; the sequences that Random makes of them have nothing in common.
uint64_t derive_seed(uint64_t seed, uint64_t number);

// Fills `to`, whole blocks, with weights of mean 0 and the standard deviation given, 1e-3…10: block scales are then
// neither 0 nor infinite in fp16. The same seed gives the same bytes everywhere.
void random_blocks(Format format, uint64_t seed, double deviation, std::span<std::byte> to);

// f32 values uniform in low…high.
void random_values(uint64_t seed, float low, float high, std::span<std::byte> to);

}  // namespace soffit::synth
