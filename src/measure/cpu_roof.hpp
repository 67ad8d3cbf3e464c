// The roof of the CPU backend: its own threads, the weights where they lie.
#pragma once

#include "cpu/backend.hpp"
#include "measure/ceilings.hpp"
#include "measure/roof.hpp"

namespace soffit::measure {

class CpuRoof final : public Roof {
 public:
  static Result<std::unique_ptr<Roof>> create(Backend& backend);

  std::span<const std::string_view> readers() const override { return names_; }
  double read(size_t reader, std::span<const Bytes> regions) override;
  Result<Bytes> memory(const Weights& weights, size_t part, int64_t expert, int64_t first, int64_t rows) const override;
  std::string_view instruction(Arithmetic arithmetic) const override { return loop(arithmetic).instruction; }
  double peak_gflops(Arithmetic arithmetic, double seconds) override;

 private:
  explicit CpuRoof(cpu::CpuBackend& backend);
  const PeakLoop& loop(Arithmetic arithmetic) const {
    return arithmetic == Arithmetic::integer8 ? peaks_.integer8 : peaks_.float32;
  }

  struct alignas(64) Slot {
    double operations = 0, begin = 0, end = 0;  // of a peak
    uint64_t words = 0;                         // what a reader has read: kept, so that no read can be left out
  };

  Team& team_;
  const PeakLoops& peaks_;
  std::span<const Reader> readers_ = widest_readers();
  std::vector<std::string_view> names_;
  std::vector<Slot> slots_;  // of each member
};

}  // namespace soffit::measure
