// Writes a model file of a shape and a mix of formats with random weights. Weights are scaled so that every layer's
// results stay of about unit size and logits are finite and as spread out as a real model's.
#pragma once

#include <cstdint>
#include <filesystem>

#include "convert/band_writer.hpp"
#include "synth/mix.hpp"
#include "synth/shape.hpp"

namespace soffit::synth {

struct SynthOptions {
  uint64_t seed = 1;
  int threads = 1;
  convert::Progress progress;
};

struct SynthReport {
  uint64_t tensors = 0, elements = 0, bytes = 0;  // bytes of the tensors
};

// The file appears only when it is complete. The same shape, mix and seed give the same bytes on every machine. A mix
// whose blocks do not fit the shape is an error.
Result<SynthReport> synthesise(const Shape& shape, const Mix& mix, const std::filesystem::path& to,
                               const SynthOptions& options);

}  // namespace soffit::synth
