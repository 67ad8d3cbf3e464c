#include "synth/synth.hpp"

#include <cmath>
#include <new>
#include <numbers>

#include "core/concat.hpp"
#include "synth/metadata.hpp"
#include "synth/random_blocks.hpp"
#include "synth/tensors.hpp"

namespace soffit::synth {
namespace {

constexpr uint64_t kBandBytes = 1 << 20;  // about; part of what a seed means
// A final norm makes rows of unit size, so this is the deviation of the logits: a few tokens then hold most of the
// probability.
constexpr double kLogitDeviation = 4;
constexpr double kRouterDeviation = 2;

struct Planned {
  TensorPlan tensor;
  const FormatInfo* format;
  uint64_t elements, bytes;
};

Result<std::vector<Planned>> plan(const Shape& shape, const Mix& mix) {
  std::vector<Planned> planned;
  for (TensorPlan& tensor : plan_tensors(shape)) {
    const Format format = mix.format(shape, tensor);
    const auto row = row_bytes(format, tensor.shape[0]);
    if (!row) return invalid_argument(concat("tensor '", tensor.name, "' of ", shape.name, ": ", row.error().message));
    uint64_t rows = 1;
    for (size_t i = 1; i < tensor.shape.size(); ++i) rows *= uint64_t(tensor.shape[i]);
    const uint64_t elements = rows * uint64_t(tensor.shape[0]), bytes = rows * uint64_t(*row);
    planned.push_back({std::move(tensor), &info(format), elements, bytes});
  }
  return planned;
}

// Inputs have unit size after a norm, so a deviation of 1/sqrt(columns) makes outputs of unit size.
double deviation(const Planned& planned) {
  const double unit = 1 / std::sqrt(double(planned.tensor.shape[0]));
  switch (planned.tensor.role) {
    case Role::output:
      return kLogitDeviation * unit;
    case Role::embedding:
      return 1;
    case Role::router:
      return kRouterDeviation * unit;
    default:
      return unit;
  }
}

// What each frequency is divided by; see RopeStretch.
std::vector<float> rope_factors(const Shape& shape) {
  const RopeStretch& stretch = shape.stretch;
  std::vector<float> factors;
  for (int64_t i = 0; i < shape.head_dim / 2; ++i) {
    const double wavelength =
        2 * std::numbers::pi * std::pow(double(shape.rope_base), 2.0 * double(i) / double(shape.head_dim));
    const double turns = stretch.original_context / wavelength;
    const double kept = (turns - stretch.low_factor) / (stretch.high_factor - stretch.low_factor);
    factors.push_back(kept >= 1   ? 1.0f
                      : kept <= 0 ? float(stretch.factor)
                                  : float(1 / ((1 - kept) / stretch.factor + kept)));
  }
  return factors;
}

Status write_tensor(convert::BandWriter& out, const Shape& shape, const Planned& planned, uint64_t seed) {
  if (planned.tensor.role == Role::rope_factors) {
    const std::vector<float> factors = rope_factors(shape);
    return out.copy(std::as_bytes(std::span(factors)));
  }
  const FormatInfo& format = *planned.format;
  const size_t band_bytes = size_t(kBandBytes / format.block_bytes * format.block_bytes);
  const double scale = deviation(planned);
  return out.write(planned.bytes, band_bytes, [&](uint64_t band, std::span<std::byte> to, int) {
    const uint64_t band_seed = derive_seed(seed, band);
    if (planned.tensor.role == Role::norm) return random_values(band_seed, 0.5f, 1.5f, to);
    random_blocks(Format(format.id), band_seed, scale, to);
  });
}

}  // namespace

Result<SynthReport> synthesise(const Shape& shape, const Mix& mix, const std::filesystem::path& to,
                               const SynthOptions& options) try {
  SOFFIT_TRY(const std::vector<Planned> planned, plan(shape, mix));
  SOFFIT_TRY(const auto writer, gguf::Writer::create(to));
  SOFFIT_CHECK(write_metadata(*writer, shape, mix, options.seed));
  SynthReport report{planned.size()};
  for (const Planned& p : planned) {
    SOFFIT_CHECK(writer->describe(p.tensor.name, p.format->id, p.tensor.shape));
    report.elements += p.elements, report.bytes += p.bytes;
  }
  SOFFIT_TRY(auto out, convert::BandWriter::create(*writer, options.threads, report.bytes, options.progress));
  for (size_t i = 0; i < planned.size(); ++i)
    SOFFIT_CHECK(write_tensor(out, shape, planned[i], derive_seed(options.seed, i)));
  SOFFIT_CHECK(out.flush());
  SOFFIT_CHECK(writer->finish());
  return report;
} catch (const std::bad_alloc&) {
  return Error{Code::out_of_memory, "no memory for a synthetic file's vocabulary"};
}

}  // namespace soffit::synth
