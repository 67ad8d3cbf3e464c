#include "metal/graph_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "core/concat.hpp"
#include "metal/graph_arguments.h"

#define SOFFIT_METAL_LIBRARY(name)                                        \
  extern "C" const soffit::lanes::Library* soffit_metal_##name##_plain(); \
  extern "C" const soffit::lanes::Library* soffit_metal_##name##_checked();
SOFFIT_METAL_LIBRARY(attention)
SOFFIT_METAL_LIBRARY(elementwise)
SOFFIT_METAL_LIBRARY(recurrent)
SOFFIT_METAL_LIBRARY(rms_norm)
SOFFIT_METAL_LIBRARY(rotate)
SOFFIT_METAL_LIBRARY(route)
#undef SOFFIT_METAL_LIBRARY

namespace soffit::metal {
namespace {

#define LIBRARY(name) soffit_metal_##name##_plain, soffit_metal_##name##_checked
constexpr GraphKernel kKernels[] = {
    {OperationKind::rms_norm, "rms_norm", "RmsNormArguments", "x, weight, residual (optional), y", GraphGrid::rows,
     LIBRARY(rms_norm)},
    {OperationKind::rotate, "rotate_heads", "RotateArguments", "x, norm (optional), turns, positions", GraphGrid::heads,
     LIBRARY(rotate)},
    {OperationKind::append_key_value, "append_key_value_f32", "KeyValueArguments",
     "k, v, keys, values, sequences, positions", GraphGrid::elements, LIBRARY(attention)},
    {OperationKind::append_key_value, "append_key_value_f16", "KeyValueArguments",
     "k, v, keys, values, sequences, positions", GraphGrid::elements, LIBRARY(attention)},
    {OperationKind::attention, "attention_f32", "AttentionArguments", "q, keys, values, sequences, positions, y",
     GraphGrid::queries, LIBRARY(attention)},
    {OperationKind::attention, "attention_f16", "AttentionArguments", "q, keys, values, sequences, positions, y",
     GraphGrid::queries, LIBRARY(attention)},
    {OperationKind::gated_activation, "gated_activation", "GatedArguments", "gate, up, y", GraphGrid::elements,
     LIBRARY(elementwise)},
    {OperationKind::linear, "epilogue", "EpilogueArguments", "x, bias (optional), residual (optional), y",
     GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::route, "route", "RouteArguments", "logits, ids, weights", GraphGrid::simdgroup, LIBRARY(route)},
    {OperationKind::combine, "combine", "CombineArguments", "x, weights, residual (optional), y", GraphGrid::elements,
     LIBRARY(elementwise)},
    {OperationKind::gather, "gather", "GatherArguments", "x, ids, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::add, "add", "ElementwiseArguments", "a, b, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::scale, "scale", "ElementwiseArguments", "a, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::prepare, "convert_f32_f32", "ConvertArguments", "x, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::prepare, "convert_f32_f16", "ConvertArguments", "x, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::prepare, "convert_f32_bf16", "ConvertArguments", "x, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::prepare, "convert_f16_f32", "ConvertArguments", "x, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::prepare, "convert_bf16_f32", "ConvertArguments", "x, y", GraphGrid::elements, LIBRARY(elementwise)},
    {OperationKind::short_convolution, "check_rows", "RowsArguments", "sequences, positions, next, fault",
     GraphGrid::simdgroup, LIBRARY(recurrent)},
    {OperationKind::short_convolution, "short_convolution", "ConvolutionArguments",
     "x, weight, past, sequences, positions, y", GraphGrid::channels, LIBRARY(recurrent)},
    {OperationKind::gated_delta_rule, "gated_delta_rule", "DeltaRuleArguments",
     "q, k, v, time, beta, rate, time_bias, state, sequences, positions, y", GraphGrid::columns, LIBRARY(recurrent)},
    {OperationKind::soft_cap, "soft_cap", "ElementwiseArguments", "a, y", GraphGrid::elements, LIBRARY(elementwise)},
};
#undef LIBRARY

constexpr uint32_t kQuerySimdgroups = 4;

}  // namespace

std::span<const GraphKernel> graph_kernels() { return kKernels; }

const GraphKernel* find_graph_kernel(std::string_view kernel) {
  const auto found = std::ranges::find(kKernels, kernel, &GraphKernel::kernel);
  return found == std::end(kKernels) ? nullptr : &*found;
}

GraphLaunch graph_launch(GraphGrid grid, const GraphShape& shape) {
  const auto rows = uint32_t(shape.rows), columns = uint32_t(shape.columns);
  switch (grid) {
    case GraphGrid::elements:
      return {{(columns + 63) / 64, rows, 1}, {64, 1, 1}, 0};
    case GraphGrid::rows:
      return {{rows, 1, 1}, {256, 1, 1}, 0};
    case GraphGrid::simdgroup:
      return {{rows, 1, 1}, {32, 1, 1}, 0};
    case GraphGrid::heads:
      return {{columns, rows, 1}, {32, 1, 1}, 0};
    case GraphGrid::channels:
      return {{(columns + 63) / 64, 1, 1}, {64, 1, 1}, 0};
    case GraphGrid::columns:
      return {{(columns + 31) / 32, rows, 1}, {32, 1, 1}, uint32_t(2 * sizeof(float) * shape.head_dim)};
    case GraphGrid::queries:
      break;
  }
  return {{columns, rows, 1},
          {32 * kQuerySimdgroups, 1, 1},
          uint32_t(kQuerySimdgroups * sizeof(float) * (2 + shape.head_dim))};
}

Result<lanes::Outcome> run_graph_kernel(const GraphKernel& kernel, std::span<const std::byte> arguments,
                                        std::span<const lanes::DeviceMemory* const> buffers, const GraphShape& shape,
                                        const LaneOptions& options) {
  const lanes::Library& library = *(options.checked ? kernel.checked : kernel.plain)();
  const lanes::Kernel* entry = find_kernel(library, kernel.kernel);
  if (!entry) return Error{Code::internal, concat(library.source, " has no kernel ", kernel.kernel)};
  SOFFIT_TRY(const auto first, lanes::DeviceMemory::create(arguments.size()));
  std::memcpy(first.data(), arguments.data(), arguments.size());
  const GraphLaunch cut = graph_launch(kernel.grid, shape);
  lanes::Launch launch;
  launch.grid = {cut.grid[0], cut.grid[1], cut.grid[2]};
  launch.threadgroup = {cut.threads[0], cut.threads[1], cut.threads[2]};
  if (cut.threadgroup_bytes) launch.threadgroup_bytes[0] = cut.threadgroup_bytes;
  launch.buffers[0] = {first.data(), first.bytes(), lanes::Role::index, {}};
  for (uint32_t b = 0; b < buffers.size(); ++b)
    launch.buffers[b + 1] = {buffers[b]->data(), buffers[b]->bytes(), lanes::Role::output, {}};
  launch.seed = options.seed;
  launch.contract = options.contract;
  launch.threads = options.threads;
  return lanes::run(library, *entry, launch);
}

}  // namespace soffit::metal
