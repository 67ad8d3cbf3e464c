// The kernels of what a model's graph has around its products: what each takes and how it is launched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lanes/device_memory.hpp"
#include "metal/lane_linear.hpp"
#include "soffit/operation.hpp"

namespace soffit::metal {

enum class GraphGrid : uint8_t {
  elements,   // a thread for each column (x) and row (y), threadgroups of 64 x 1
  rows,       // a threadgroup of 256 threads for each row
  simdgroup,  // one simdgroup for each row
  heads,      // one simdgroup for each head (x) and row (y)
  channels,   // a thread for each channel (columns), which goes through all rows
  columns,    // a simdgroup for 32 columns (x) of the matrix of each head (y, GraphShape's rows); head_dim: of keys
  queries,    // 4 simdgroups for each query head (x) and row (y); threadgroup memory 0: 4 * 4 * (2 + head_dim) bytes
};

struct GraphKernel {
  OperationKind operation;
  std::string_view kernel;
  std::string_view arguments;  // the struct of graph_arguments.h, buffer 0
  std::string_view buffers;    // from buffer 1 on; optional ones are bound to any other when they are not there
  GraphGrid grid;
  const lanes::Library* (*plain)();
  const lanes::Library* (*checked)();
};
std::span<const GraphKernel> graph_kernels();
const GraphKernel* find_graph_kernel(std::string_view kernel);  // null when there is none

struct GraphShape {
  uint64_t rows = 1, columns = 1;  // columns: elements, or heads
  uint64_t head_dim = 0;
};
struct GraphLaunch {
  std::array<uint32_t, 3> grid, threads;
  uint32_t threadgroup_bytes;
};
GraphLaunch graph_launch(GraphGrid grid, const GraphShape& shape);

// On the lanes.
Result<lanes::Outcome> run_graph_kernel(const GraphKernel& kernel, std::span<const std::byte> arguments,
                                        std::span<const lanes::DeviceMemory* const> buffers, const GraphShape& shape,
                                        const LaneOptions& options);

}  // namespace soffit::metal
