#include "convert/quantise.hpp"

#include <algorithm>
#include <cmath>

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

struct Scratch {
  std::vector<float> before, after;
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
  scratch.before.resize(elements), scratch.after.resize(elements);
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

Status convert_tensor(const gguf::File& file, const gguf::Tensor& tensor, const FormatInfo& format, BandWriter& out,
                      std::span<Scratch> scratch, QuantisedTensor& result) {
  const size_t band_bytes = size_t(kBandElements) / format.block_elements * format.block_bytes;
  const uint64_t elements = uint64_t(tensor.elements());
  std::vector<Sums> bands((elements + kBandElements - 1) / kBandElements);
  SOFFIT_CHECK(out.write(elements / format.block_elements * format.block_bytes, band_bytes,
                         [&](uint64_t band, std::span<std::byte> to, int member) {
                           bands[band] = convert(tensor, format, band, to, scratch[size_t(member)]);
                         }));
  file.release(tensor.bytes);
  Sums sum;  // in the order of the bands, whichever thread did them
  for (const Sums& band : bands) {
    sum.error += band.error, sum.value += band.value;
    sum.infinite_before += band.infinite_before, sum.infinite_after += band.infinite_after;
  }
  result.rmse = std::sqrt(sum.error / double(std::max<uint64_t>(elements, 1)));
  result.rms = std::sqrt(sum.value / double(std::max<uint64_t>(elements, 1)));
  return check_finite(tensor, format, sum);
}

}  // namespace

Result<std::vector<QuantisedTensor>> quantise(const gguf::File& from, const std::filesystem::path& to,
                                              const QuantiseOptions& options) {
  SOFFIT_TRY(const std::vector<Target> targets, choose_targets(from, options.format, options.overrides));
  SOFFIT_TRY(const auto writer, gguf::Writer::create(to, uint32_t(from.alignment())));
  SOFFIT_CHECK(write_metadata(*writer, from, options.format, targets));
  uint64_t total = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    const gguf::Tensor& tensor = from.tensors()[i];
    const FormatInfo& format = *targets[i].format;
    SOFFIT_CHECK(writer->describe(tensor.name, format.id, tensor.shape));
    total += uint64_t(tensor.elements()) / format.block_elements * format.block_bytes;
  }
  SOFFIT_TRY(BandWriter out, BandWriter::create(*writer, options.threads, total, options.progress));
  std::vector<Scratch> scratch(size_t(out.threads()));
  std::vector<QuantisedTensor> results;
  for (size_t i = 0; i < targets.size(); ++i) {
    const gguf::Tensor& tensor = from.tensors()[i];
    QuantisedTensor result{std::string(tensor.name), tensor.shape, tensor.format, targets[i]};
    if (targets[i].format == tensor.format) {
      SOFFIT_CHECK(out.copy(tensor.bytes));
      from.release(tensor.bytes);
    } else {
      SOFFIT_CHECK(convert_tensor(from, tensor, *targets[i].format, out, scratch, result));
    }
    results.push_back(std::move(result));
  }
  SOFFIT_CHECK(out.flush());
  SOFFIT_CHECK(writer->finish());
  return results;
}

}  // namespace soffit::convert
