#include "measure/roof.hpp"

#include <algorithm>
#include <string>

#include "measure/cpu_roof.hpp"
#include "measure/statistics.hpp"
#include "measure/timer.hpp"

namespace soffit::measure {
namespace {

constexpr uint64_t kLegBytes = 64 << 20;  // read at a time: long against the clock, short against the seconds to spend
constexpr uint64_t kMostBytes = uint64_t(2) << 30;

// The regions in legs of about kLegBytes, in order.
std::vector<std::vector<Bytes>> legs_of(std::span<const Bytes> regions) {
  std::vector<std::vector<Bytes>> legs;
  uint64_t filled = kLegBytes;
  for (Bytes rest : regions) {
    while (!rest.empty()) {
      if (filled == kLegBytes) legs.emplace_back(), filled = 0;
      const Bytes piece = rest.first(std::min<uint64_t>(rest.size(), kLegBytes - filled));
      legs.back().push_back(piece);
      filled += piece.size();
      rest = rest.subspan(piece.size());
    }
  }
  return legs;
}

uint64_t size_of_all(std::span<const Bytes> regions) {
  uint64_t sum = 0;
  for (const Bytes region : regions) sum += region.size();
  return sum;
}

}  // namespace

Arithmetic arithmetic_of(Format format, bool exact) {
  const bool plain = format == Format::f32 || format == Format::f16 || format == Format::bf16;
  return plain || exact ? Arithmetic::float32 : Arithmetic::integer8;
}

Result<std::unique_ptr<Roof>> Roof::create(Backend& backend) {
  if (backend.name() == "cpu") return CpuRoof::create(backend);
  return unsupported("the roof of backend '" + std::string(backend.name()) +
                     "' cannot be measured here; of cpu it can");
}

ReadSpeed read_speed(Roof& roof, std::span<const Bytes> regions, double seconds) {
  const auto legs = legs_of(regions);
  if (legs.empty()) return {};
  const size_t readers = roof.readers().size();
  for (const auto& leg : legs) {  // fills the caches with the end, as a pass before would have
    (void)roof.read(0, leg);
    if (legs.size() > 8) break;
  }
  // Round after round every reader reads, at different legs each time.
  std::vector<std::vector<double>> rates(readers);
  const double end = now_seconds() + seconds;
  size_t at = legs.size() > 8 ? 1 : 0;
  for (size_t round = 0; round == 0 || now_seconds() < end; ++round) {
    for (size_t i = 0; i < readers; ++i, ++at) {
      const auto& leg = legs[at % legs.size()];
      const size_t reader = (i + round) % readers;
      rates[reader].push_back(double(size_of_all(leg)) / 1e9 / roof.read(reader, leg));
    }
  }
  ReadSpeed best;
  for (size_t i = 0; i < readers; ++i) {
    const double rate = median(rates[i]);
    if (rate <= best.gb_per_second) continue;
    const bool noisy = percentile(rates[i], 0.9) - percentile(rates[i], 0.1) > 0.1 * rate;
    best = {rate, roof.readers()[i], noisy};
  }
  return best;
}

Result<ReadSpeed> read_bandwidth(Backend& backend, std::span<const Weights* const> weights, double seconds) {
  SOFFIT_TRY(const auto roof, Roof::create(backend));
  std::vector<Bytes> regions;
  for (const Weights* w : weights) {
    for (size_t part = 0; part < w->parts().size(); ++part) {
      const MatrixDescription& matrix = w->parts()[part];
      for (int64_t expert = 0; expert < matrix.experts; ++expert) {
        SOFFIT_TRY(const Bytes bytes, roof->memory(*w, part, expert, 0, matrix.rows));
        regions.push_back(bytes);
      }
    }
  }
  if (size_of_all(regions) == 0) return invalid_argument("read bandwidth of no bytes");
  return read_speed(*roof, regions, seconds);
}

Result<ReadSpeed> read_bandwidth(Backend& backend, uint64_t bytes, double seconds) {
  if (bytes == 0) return invalid_argument("read bandwidth of no bytes");
  SOFFIT_TRY(const auto roof, Roof::create(backend));
  const uint64_t size = std::min(bytes, kMostBytes);
  SOFFIT_TRY(const auto buffer, backend.new_buffer(size));
  if (!buffer->host()) return unsupported("read bandwidth of memory that the host cannot reach");
  auto* memory = static_cast<std::byte*>(buffer->host());
  std::fill(memory, memory + size, std::byte{1});  // untouched pages would all be one page of zeros
  const Bytes region(memory, size);
  return read_speed(*roof, {&region, 1}, seconds);
}

Result<double> peak_gflops(Backend& backend, Arithmetic arithmetic, double seconds) {
  SOFFIT_TRY(const auto roof, Roof::create(backend));
  constexpr int kTries = 5;
  double best = 0;
  for (int i = 0; i < kTries; ++i) best = std::max(best, roof->peak_gflops(arithmetic, seconds / kTries));
  return best;
}

}  // namespace soffit::measure
