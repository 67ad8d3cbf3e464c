#include "mutants.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "check/suite.hpp"
#include "cpu/backend.hpp"
#include "cpu/packing.hpp"

namespace soffit::test {
namespace {

using cpu::LinearJob;
using cpu::LinearKernel;

// What the table of functions cannot hold: a kernel is a plain function.
struct {
  Format format{};
  Fault fault{};
  LinearKernel (*kernels)(Format) = nullptr;
  LinearKernel kernel;
} current;

bool is_tiled() { return current.kernel.tile_bytes != 0; }

void zero_row(const LinearJob& job) {
  const int64_t row = std::min<int64_t>(3, job.rows - 1);
  for (int64_t t = 0; t < job.n; ++t) job.y[(job.y_index ? job.y_index[t] : t) * job.y_stride + row] = 0;
}

void spoil_tail(const LinearJob& job) {
  if (job.rows % 16 < 2) return;
  for (int64_t t = 0; t < job.n; ++t) {
    float* y = job.y + (job.y_index ? job.y_index[t] : t) * job.y_stride;
    y[job.rows - 1] = y[job.rows - 2];
  }
}

// The job's tiles, with the 16 scales at the start of each (two bytes each, one for MXFP4) changed.
std::vector<uint8_t> changed_tiles(const LinearJob& job) {
  const size_t bytes = size_t(current.kernel.tile_bytes), element = current.format == Format::mxfp4 ? 1 : 2;
  const auto in_row = size_t(job.cols / current.kernel.tile_columns), rows = size_t((job.rows + 15) / 16);
  std::vector<uint8_t> tiles(rows * size_t(job.row_bytes));
  std::memcpy(tiles.data(), job.weights, (rows - 1) * size_t(job.row_bytes) + in_row * bytes);
  for (size_t r = 0; r < rows; ++r)
    for (size_t i = in_row; i-- > 0;) {
      uint8_t* tile = tiles.data() + r * size_t(job.row_bytes) + i * bytes;
      if (current.fault == Fault::swapped_rows)
        std::swap_ranges(tile, tile + element, tile + element);
      else if (i > 0)
        std::memcpy(tile, tile - bytes, 16 * element);
    }
  return tiles;
}

template <bool kExact>
void run(const LinearJob& original) {
  LinearJob job = original;
  std::vector<uint8_t> tiles;
  std::vector<int32_t> tokens;
  const int64_t block = is_tiled() ? current.kernel.tile_columns : 1;
  switch (current.fault) {
    case Fault::dropped_block:
      job.cols = std::max(block, job.cols - block);
      break;
    case Fault::dropped_column_tail:
      job.cols = job.cols < 16 ? job.cols : job.cols / 16 * 16;
      break;
    case Fault::swapped_rows:
    case Fault::shifted_block:
      tiles = changed_tiles(job);
      job.weights = tiles.data();
      break;
    case Fault::wrong_token:
      for (int64_t t = 0; t < job.n; ++t) tokens.push_back(job.x_index ? job.x_index[t] : int32_t(t));
      if (job.n > 1) tokens[size_t(job.n - 1)] = tokens[size_t(job.n - 2)];
      job.x_index = tokens.data();
      break;
    default:
      break;
  }
  (kExact ? current.kernel.run_exact : current.kernel.run)(job);
  if (current.fault == Fault::zeroed_row) zero_row(job);
  if (current.fault == Fault::wrong_tail) spoil_tail(job);
}

LinearKernel faulty(Format format) {
  LinearKernel kernel = current.kernels(format);
  if (format == current.format) kernel.run = run<false>, kernel.run_exact = run<true>;
  return kernel;
}

}  // namespace

const char* to_string(Fault fault) {
  constexpr const char* kNames[] = {"none",          "zeroed_row",          "dropped_block",
                                    "wrong_tail",    "dropped_column_tail", "swapped_rows",
                                    "shifted_block", "wrong_token"};
  return kNames[size_t(fault)];
}

bool applies(Fault fault, Format format) {
  const bool tiled = cpu::scalar_kernels().linear(format).tile >= 0;
  if (fault == Fault::dropped_column_tail) return !tiled;
  if (fault == Fault::swapped_rows || fault == Fault::shifted_block)
    // The K formats whose scale stands elsewhere have it at the start of a tile all the same.
    return tiled;
  return true;
}

const cpu::VectorKernels& faulty_kernels(const cpu::VectorKernels& base, Format format, Fault fault) {
  static cpu::VectorKernels table;
  table = base;
  current = {format, fault, base.linear, base.linear(format)};
  table.linear = faulty;
  return table;
}

int failures(const cpu::VectorKernels& kernels, bool exact, Format format, OperationKind operation) {
  cpu::CpuBackend backend(kernels, std::make_unique<Team>(*own_threads(1)), exact);
  Backend* list[] = {&backend};
  checker::SuiteOptions options;
  options.formats = {format}, options.operations = {operation}, options.quick = true;
  checker::Placement placement;
  int count = 0;
  checker::run_suite(list, options, placement, [&](const checker::Report& r) {
    count += r.outcome.verdict == checker::Verdict::failed;
    return count == 0;
  });
  return count;
}

}  // namespace soffit::test
