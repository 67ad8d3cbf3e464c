// A GGUF file with its matrices in another format: decoded by the reference, encoded by the reference.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convert/band_writer.hpp"
#include "convert/target.hpp"
#include "soffit/gguf.hpp"

namespace soffit::convert {

struct QuantiseOptions {
  Format format = Format::f16;
  std::vector<Override> overrides;
  int threads = 1;
  Progress progress;
};

struct QuantisedTensor {
  std::string name;
  std::vector<int64_t> shape;
  const FormatInfo* from = nullptr;
  Target to;
  uint64_t bytes = 0;  // after
  // Root of the mean square: of the difference between the values before and after, and of the values before.
  double rmse = 0, rms = 0;
};

// All tensors of the file, those that stayed too (their errors are 0 and their rms is not computed). Metadata is kept,
// but for general.file_type, general.quantization_version and the keys of a split model: the result is one file. When
// no tensor changes, neither does any metadata. `to` appears only when everything is written, and may be the file
// itself. Values that are not finite before or after, as from fp32 to fp16, are an error that names the tensor.
Result<std::vector<QuantisedTensor>> quantise(const gguf::File& from, const std::filesystem::path& to,
                                              const QuantiseOptions& options);

}  // namespace soffit::convert
