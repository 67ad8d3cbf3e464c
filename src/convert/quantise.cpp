#include "convert/quantise.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "convert/file_type.hpp"
#include "core/concat.hpp"
#include "core/escape.hpp"

namespace soffit::convert {
namespace {

// A whole number of blocks of every format. Rows need no attention: their blocks follow one another.
constexpr int64_t kBandElements = 1 << 16;
static_assert(kBandElements % 256 == 0);

constexpr std::string_view kFileTypeKey = "general.file_type", kVersionKey = "general.quantization_version";
constexpr uint32_t kQuantisationVersion = 2;  // of the formats, as ggml counts it

struct Sums {
  double error = 0, value = 0;  // of squares
  int64_t infinite_before = 0, infinite_after = 0;
};

// Of one thread. Threads allocate nothing: an exception there would end the process.
struct Scratch {
  std::vector<float> before = std::vector<float>(kBandElements), after = before;
};

Status write_metadata(gguf::Writer& writer, const gguf::File& from, Format format, std::span<const Target> targets) {
  bool changed = false, quantised = false;
  for (size_t i = 0; i < targets.size(); ++i) {
    changed |= targets[i].format != from.tensors()[i].format;
    quantised |= targets[i].format->block_elements > 1;
  }
  const gguf::OwnedValue type = file_type(format);
  for (const gguf::KeyValue& pair : from.metadata()) {
    if (from.parts() > 1 && pair.key.starts_with("split.")) continue;
    if (changed && pair.key == kFileTypeKey) {
      SOFFIT_CHECK(writer.add(pair.key, type));
    } else {
      SOFFIT_CHECK(writer.add(pair.key, pair.value));
    }
  }
  if (!changed) return {};
  if (!from.find(kFileTypeKey)) SOFFIT_CHECK(writer.add(kFileTypeKey, type));
  if (quantised && !from.find(kVersionKey)) {
    SOFFIT_CHECK(writer.add(kVersionKey, gguf::OwnedValue(kQuantisationVersion)));
  }
  return {};
}

// One band: `to` receives the blocks of the new format.
Sums convert(const gguf::Tensor& tensor, const FormatInfo& format, uint64_t band, std::span<std::byte> to,
             Scratch& scratch) {
  const FormatInfo& old = *tensor.format;
  const size_t elements = to.size() / format.block_bytes * format.block_elements;
  const std::byte* from =
      tensor.bytes.data() + band * uint64_t(kBandElements) / old.block_elements * uint64_t(old.block_bytes);
  old.decode(from, scratch.before.data(), elements / old.block_elements);
  format.encode(scratch.before.data(), to.data(), elements / format.block_elements);
  format.decode(to.data(), scratch.after.data(), elements / format.block_elements);
  Sums sums;
  for (size_t i = 0; i < elements; ++i) {
    const double before = scratch.before[i], difference = scratch.after[i] - before;
    sums.infinite_before += !std::isfinite(scratch.before[i]);
    sums.infinite_after += !std::isfinite(scratch.after[i]);
    sums.error += difference * difference, sums.value += before * before;
  }
  return sums;
}

Status check_finite(const gguf::Tensor& tensor, const FormatInfo& format, const Sums& sums) {
  if (sums.infinite_before > 0) {
    return invalid_file(
        concat("tensor '", escaped(tensor.name, 80), "' has ", sums.infinite_before, " values that are not finite"));
  }
  if (sums.infinite_after > 0) {
    return invalid_argument(concat("tensor '", escaped(tensor.name, 80), "' has ", sums.infinite_after,
                                   " values too large for ", format.name, "; bf16 and f32 hold them"));
  }
  return {};
}

Status convert_tensor(const gguf::File& file, const gguf::Tensor& tensor, BandWriter& out, std::span<Scratch> scratch,
                      QuantisedTensor& result) {
  const FormatInfo& format = *result.to.format;
  const size_t band_bytes = size_t(kBandElements) / format.block_elements * format.block_bytes;
  std::vector<Sums> bands((result.bytes + band_bytes - 1) / band_bytes);
  SOFFIT_CHECK(out.write(result.bytes, band_bytes, [&](uint64_t band, std::span<std::byte> to, int member) {
    bands[band] = convert(tensor, format, band, to, scratch[size_t(member)]);
  }));
  file.release(tensor.bytes);
  Sums sum;  // in the order of the bands, whichever thread did them
  for (const Sums& band : bands) {
    sum.error += band.error, sum.value += band.value;
    sum.infinite_before += band.infinite_before, sum.infinite_after += band.infinite_after;
  }
  const double elements = double(std::max<int64_t>(tensor.elements(), 1));
  result.rmse = std::sqrt(sum.error / elements);
  result.rms = std::sqrt(sum.value / elements);
  return check_finite(tensor, format, sum);
}

}  // namespace

Result<std::vector<QuantisedTensor>> quantise(const gguf::File& from, const std::filesystem::path& to,
                                              const QuantiseOptions& options) try {
  SOFFIT_TRY(const std::vector<Target> targets, choose_targets(from, options.format, options.overrides));
  SOFFIT_TRY(const auto writer, gguf::Writer::create(to, uint32_t(from.alignment())));
  SOFFIT_CHECK(write_metadata(*writer, from, options.format, targets));
  uint64_t total = 0;
  std::vector<QuantisedTensor> results;
  for (size_t i = 0; i < targets.size(); ++i) {
    const gguf::Tensor& tensor = from.tensors()[i];
    const FormatInfo& format = *targets[i].format;
    SOFFIT_CHECK(writer->describe(tensor.name, format.id, tensor.shape));
    const uint64_t bytes = uint64_t(tensor.elements()) / format.block_elements * format.block_bytes;
    results.push_back({std::string(tensor.name), tensor.shape, tensor.format, targets[i], bytes});
    total += bytes;
  }
  SOFFIT_TRY(BandWriter out, BandWriter::create(*writer, options.threads, total, options.progress));
  std::vector<Scratch> scratch(size_t(out.threads()));
  for (size_t i = 0; i < targets.size(); ++i) {
    const gguf::Tensor& tensor = from.tensors()[i];
    if (targets[i].format == tensor.format) {
      SOFFIT_CHECK(out.copy(tensor.bytes));
      from.release(tensor.bytes);
    } else {
      SOFFIT_CHECK(convert_tensor(from, tensor, out, scratch, results[i]));
    }
  }
  SOFFIT_CHECK(out.flush());
  SOFFIT_CHECK(writer->finish());
  return results;
} catch (const std::bad_alloc&) {
  return Error{Code::out_of_memory, "no memory to requantise a file"};
}

}  // namespace soffit::convert
