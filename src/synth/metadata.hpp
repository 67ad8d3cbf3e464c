// The metadata of a synthetic model: what readers need, what the real converter writes, and a plain word that the
// weights are random.
#pragma once

#include <cstdint>

#include "soffit/gguf.hpp"
#include "synth/mix.hpp"
#include "synth/shape.hpp"

namespace soffit::synth {

// True in every file made here.
inline constexpr std::string_view kSyntheticKey = "soffit.synthetic";

Status write_metadata(gguf::Writer& writer, const Shape& shape, const Mix& mix, uint64_t seed);

}  // namespace soffit::synth
