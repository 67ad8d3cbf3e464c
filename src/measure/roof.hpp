// The roof of a machine, measured: how fast its memory can be read and how fast it can multiply, with the threads of a
// backend. Every speed that soffit reports is a fraction of it.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "soffit/backend.hpp"

namespace soffit::measure {

using Bytes = std::span<const std::byte>;

enum class Arithmetic : uint8_t { integer8, float32 };
// What the products of a format are made of: 8-bit integers for quantised ones, fp32 for F32, F16, BF16, and for all in
// exact mode.
Arithmetic arithmetic_of(Format format, bool exact);

class Roof {
 public:
  // An error that names the backend when nothing here can measure it. The backend must outlive the roof.
  static Result<std::unique_ptr<Roof>> create(Backend& backend);
  virtual ~Roof() = default;

  // Ways of reading; which is the fastest depends on the machine and on where the bytes are, so all are tried.
  virtual std::span<const std::string_view> readers() const = 0;
  // Seconds in which the threads read all regions, in order, each byte once. Of every region each thread takes one
  // contiguous band, as the linear kernels do.
  virtual double read(size_t reader, std::span<const Bytes> regions) = 0;

  // The memory that holds the rows [first, first + rows) of an expert of a part, as the kernels read it.
  virtual Result<Bytes> memory(const Weights& weights, size_t part, int64_t expert, int64_t first,
                               int64_t rows) const = 0;

  virtual std::string_view instruction(Arithmetic arithmetic) const = 0;
  // GFLOP/s of the arithmetic alone in all threads, kept up for about this long.
  virtual double peak_gflops(Arithmetic arithmetic, double seconds) = 0;
};

struct ReadSpeed {
  double gb_per_second = 0;  // of the fastest reader
  std::string_view reader;
  bool noisy = false;  // its passes differ by more than 10 % (10th and 90th percentile against the median)
};
// Reads the regions again and again for about `seconds`, at least once with each reader, and takes the reader whose
// median is highest. What fits in a cache is read from there from the second pass on, as a model that runs token after
// token does.
ReadSpeed read_speed(Roof& roof, std::span<const Bytes> regions, double seconds);

// For whole models. Read speed of all the bytes of these weights, in place: no memory is allocated.
Result<ReadSpeed> read_bandwidth(Backend& backend, std::span<const Weights* const> weights, double seconds = 0.3);
// The same of `bytes` bytes of memory of its own, 2 GB at most.
Result<ReadSpeed> read_bandwidth(Backend& backend, uint64_t bytes, double seconds = 0.3);
// Peak arithmetic for about `seconds`: the best of several tries.
Result<double> peak_gflops(Backend& backend, Arithmetic arithmetic, double seconds = 0.1);

}  // namespace soffit::measure
