#include "measure/cpu_roof.hpp"

#include <algorithm>
#include <string>

#include "cpu/weights.hpp"
#include "measure/timer.hpp"

namespace soffit::measure {

CpuRoof::CpuRoof(cpu::CpuBackend& backend)
    : team_(backend.team()), peaks_(peak_loops(backend.kernels().isa)), slots_(size_t(backend.threads())) {
  for (const Reader& reader : readers_) names_.push_back(reader.name);
}

Result<std::unique_ptr<Roof>> CpuRoof::create(Backend& backend) {
  auto* cpu = dynamic_cast<cpu::CpuBackend*>(&backend);
  if (!cpu) return invalid_argument("backend 'cpu' is not the one of this library");
  return std::unique_ptr<Roof>(new CpuRoof(*cpu));
}

double CpuRoof::read(size_t reader, std::span<const Bytes> regions) {
  const auto read = readers_[reader].read;
  const auto members = uint64_t(team_.size());
  return seconds_of([&] {
    team_.run([&](int member) {
      uint64_t words = 0;
      for (const Bytes region : regions) {
        const auto* base = reinterpret_cast<const uint8_t*>(region.data());
        // Bands begin at whole cache lines of the region.
        const uint64_t lines = (region.size() + 63) / 64;
        const uint64_t begin = lines * uint64_t(member) / members * 64;
        const uint64_t end = std::min<uint64_t>(lines * uint64_t(member + 1) / members * 64, region.size());
        if (begin < end) words ^= read(base + begin, end - begin);
      }
      slots_[size_t(member)].words ^= words;
    });
  });
}

Result<Bytes> CpuRoof::memory(const Weights& weights, size_t part, int64_t expert, int64_t first, int64_t rows) const {
  const auto* cpu = dynamic_cast<const cpu::CpuWeights*>(&weights);
  if (!cpu || !cpu->finished()) return invalid_argument("roof: weights of another backend, or before finish()");
  if (part >= cpu->part_count())
    return invalid_argument("roof: part " + std::to_string(part) + " of " + std::to_string(cpu->part_count()));
  const auto& p = cpu->part(part);
  if (expert < 0 || expert >= p.matrix.experts || first < 0 || rows < 0 || rows > p.matrix.rows ||
      first > p.matrix.rows - rows)
    return invalid_argument("roof: rows " + std::to_string(first) + " + " + std::to_string(rows) + " of expert " +
                            std::to_string(expert) + " in a matrix of " + std::to_string(p.matrix.rows) + " rows, " +
                            std::to_string(p.matrix.experts) + " experts");
  if (p.row_stride != p.row_bytes)
    return unsupported("roof: rows of " + std::to_string(p.row_bytes) + " bytes that lie " +
                       std::to_string(p.row_stride) + " bytes apart");
  return Bytes(reinterpret_cast<const std::byte*>(p.rows_at(expert, first)), size_t(rows * p.row_bytes));
}

double CpuRoof::peak_gflops(Arithmetic arithmetic, double seconds) {
  const PeakLoop& peak = loop(arithmetic);
  // The clock is asked between pieces that are long against asking.
  constexpr int64_t kPiece = 20000;
  team_.run([&](int member) {
    Slot& slot = slots_[size_t(member)];
    slot.operations = 0;
    team_.barrier();
    slot.begin = slot.end = now_seconds();
    while (slot.end - slot.begin < seconds) {
      slot.operations += peak.run(kPiece);
      slot.end = now_seconds();
    }
  });
  // From the first start to the last end: a member that had to wait for a processor slows the whole, as it does in a
  // kernel.
  double operations = 0, begin = slots_.front().begin, end = slots_.front().end;
  for (const Slot& slot : slots_) {
    operations += slot.operations;
    begin = std::min(begin, slot.begin);
    end = std::max(end, slot.end);
  }
  return operations / (end - begin) / 1e9;
}

}  // namespace soffit::measure
