#include "metal/lane_ids.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "check/random.hpp"
#include "core/concat.hpp"
#include "core/half.hpp"
#include "metal/arguments.h"
#include "metal/payload.hpp"

extern "C" const soffit::lanes::Library* soffit_metal_ids_plain();
extern "C" const soffit::lanes::Library* soffit_metal_ids_checked();

namespace soffit::metal {
namespace {

Result<const lanes::Kernel*> kernel_of(const lanes::Library& library, const std::string& entry) {
  const lanes::Kernel* kernel = find_kernel(library, entry);
  if (!kernel) return Error{Code::internal, concat(library.source, " has no kernel ", entry)};
  return kernel;
}

template <class T>
Result<lanes::DeviceMemory> memory_of(const T& value) {
  SOFFIT_TRY(auto memory, lanes::DeviceMemory::create(sizeof value));
  std::memcpy(memory.data(), &value, sizeof value);
  return memory;
}

lanes::Buffer buffer(const lanes::DeviceMemory& memory, lanes::Role role) {
  return {memory.data(), memory.bytes(), role, {}};
}

void apply(const LaneOptions& options, lanes::Launch& launch) {
  launch.seed = options.seed;
  launch.contract = options.contract;
  launch.threads = options.threads;
}

float element(const lanes::DeviceMemory& memory, DataType type, uint64_t at) {
  if (type == DataType::f16) return half_to_float(reinterpret_cast<const uint16_t*>(memory.data())[at]);
  return reinterpret_cast<const float*>(memory.data())[at];
}

const lanes::Library& ids_library(const LaneOptions& options) {
  return *(options.checked ? soffit_metal_ids_checked : soffit_metal_ids_plain)();
}

}  // namespace

Result<LinearIdProblem> LinearIdProblem::random(Format format, const LinearIdShape& shape, DataType type,
                                                uint64_t seed) {
  const LinearShape all{.rows = shape.rows * shape.experts,
                        .cols = shape.cols,
                        .n = shape.per_slot ? shape.slots() : shape.tokens,
                        .x_stride = shape.x_stride};
  SOFFIT_TRY(auto experts, LinearProblem::random(format, all, type, seed));
  LinearIdProblem problem(format, shape, type, std::move(experts));
  SOFFIT_TRY(problem.ids_, lanes::DeviceMemory::create(shape.slots() * sizeof(int32_t)));
  const uint64_t elements = problem.y_stride() * (shape.slots() - 1) + shape.rows;
  SOFFIT_TRY(problem.y_, lanes::DeviceMemory::create(elements * uint64_t(size_of(type))));
  checker::Random random(seed);
  for (int32_t& id : problem.ids()) id = int32_t(random.below(int64_t(shape.experts)));
  problem.forget_results();
  return problem;
}

float LinearIdProblem::y(uint64_t slot, uint64_t row) const { return element(y_, type_, slot * y_stride() + row); }

std::vector<float> LinearIdProblem::results() const {
  std::vector<float> all;
  for (uint64_t s = 0; s < shape_.slots(); ++s) {
    for (uint64_t r = 0; r < shape_.rows; ++r) all.push_back(y(s, r));
  }
  return all;
}

void LinearIdProblem::forget_results() { std::memset(y_.data(), 0xff, size_t(y_.bytes())); }

WorstResult LinearIdProblem::worst_result(Terms terms) const {
  WorstResult worst;
  for (uint64_t s = 0; s < shape_.slots(); ++s) {
    const int64_t id = ids()[s];
    const bool none = id < 0 || uint64_t(id) >= shape_.experts;
    for (uint64_t r = 0; r < shape_.rows; ++r) {
      if (none) {
        if (!std::isnan(y(s, r))) return {std::numeric_limits<double>::infinity(), r, s, y(s, r), NAN, 0};
        continue;
      }
      const uint64_t vector = shape_.per_slot ? s : s / shape_.used;
      const checker::Value value = experts_.value(terms, uint64_t(id) * shape_.rows + r, vector);
      const double ratio = checker::error_over_bound(y(s, r), type_, value);
      if (!(ratio <= worst.error_over_bound)) worst = {ratio, r, s, y(s, r), value.exact, 0};
      if (std::isnan(ratio)) return worst;
    }
  }
  return worst;
}

Result<std::optional<uint64_t>> LinearIdProblem::first_bad_id(const LaneOptions& options) const {
  const lanes::Library& library = ids_library(options);
  SOFFIT_TRY(const lanes::Kernel* kernel, kernel_of(library, "check_ids"));
  SOFFIT_TRY(const auto arguments, memory_of(IdsArguments{uint32_t(shape_.slots()), uint32_t(shape_.experts)}));
  SOFFIT_TRY(const auto fault, memory_of(uint32_t(0xffffffff)));
  lanes::Launch launch;
  launch.buffers[0] = buffer(arguments, lanes::Role::index);
  launch.buffers[1] = buffer(ids_, lanes::Role::index);
  launch.buffers[2] = buffer(fault, lanes::Role::output);
  apply(options, launch);
  SOFFIT_TRY(const auto outcome, lanes::run(library, *kernel, launch));
  if (!outcome.faults.empty()) return Error{Code::internal, to_text(outcome.faults.front())};
  uint32_t first = 0;
  std::memcpy(&first, fault.data(), sizeof first);
  return first == 0 ? std::optional<uint64_t>() : std::optional<uint64_t>(first - 1);
}

Result<lanes::Outcome> LinearIdProblem::group(const lanes::DeviceMemory& counts, const lanes::DeviceMemory& slots,
                                              const LaneOptions& options) const {
  const lanes::Library& library = ids_library(options);
  SOFFIT_TRY(const lanes::Kernel* kernel, kernel_of(library, "group_slots"));
  SOFFIT_TRY(const auto arguments, memory_of(IdsArguments{uint32_t(shape_.slots()), uint32_t(shape_.experts)}));
  lanes::Launch launch;
  launch.grid = {uint32_t(shape_.experts), 1, 1};
  launch.buffers[0] = buffer(arguments, lanes::Role::index);
  launch.buffers[1] = buffer(ids_, lanes::Role::index);
  launch.buffers[2] = buffer(counts, lanes::Role::output);
  launch.buffers[3] = buffer(slots, lanes::Role::output);
  apply(options, launch);
  return lanes::run(library, *kernel, launch);
}

Result<lanes::Outcome> LinearIdProblem::run(const Variant& variant, const Tuning& tuning,
                                            const LaneOptions& options) const {
  const lanes::Library& library = *(options.checked ? variant.checked : variant.plain)();
  SOFFIT_TRY(const lanes::Kernel* kernel,
             kernel_of(library, concat(variant.kernel, type_ == DataType::f16 ? "_f16" : "_f32")));
  SOFFIT_TRY(const int64_t row, row_bytes(format_, int64_t(shape_.cols)));
  LinearIdArguments values{};
  values.linear = {uint64_t(row),
                   shape_.x_stride ? shape_.x_stride : shape_.cols,
                   y_stride(),
                   uint32_t(shape_.rows),
                   uint32_t(shape_.cols),
                   uint32_t(shape_.slots()),
                   0};
  values.expert_bytes = uint64_t(row) * shape_.rows;
  values.experts = uint32_t(shape_.experts);
  values.used = uint32_t(shape_.used);
  values.per_slot = shape_.per_slot;
  SOFFIT_TRY(const auto arguments, memory_of(values));
  const LinearGrid grid = linear_grid(variant.division, tuning, shape_.rows, shape_.slots());
  const bool tiles = variant.division == Division::tiles;
  lanes::Launch launch;
  launch.grid = {grid.x, grid.y, tiles ? uint32_t(shape_.experts) : 1};
  launch.threadgroup = {grid.threads, 1, 1};
  launch.constants = constants_of(tuning, grid.batch);
  const LinearBuffers& from = experts_.buffers();
  launch.buffers[0] = buffer(arguments, lanes::Role::index);
  launch.buffers[1] = {from.weights.data(), from.weights.bytes(), lanes::Role::weights, block_layout(format_)};
  launch.buffers[2] = buffer(from.x, lanes::Role::activations);
  launch.buffers[3] = buffer(y_, lanes::Role::output);
  apply(options, launch);
  if (!tiles) {
    launch.buffers[4] = buffer(ids_, lanes::Role::index);
    return lanes::run(library, *kernel, launch, options.watch());
  }
  SOFFIT_TRY(const auto counts, lanes::DeviceMemory::create(shape_.experts * sizeof(uint32_t)));
  SOFFIT_TRY(const auto slots, lanes::DeviceMemory::create(shape_.experts * shape_.slots() * sizeof(uint32_t)));
  SOFFIT_TRY(const auto grouped, group(counts, slots, options));
  if (!grouped.faults.empty()) return grouped;
  launch.buffers[4] = buffer(counts, lanes::Role::index);
  launch.buffers[5] = buffer(slots, lanes::Role::index);
  return lanes::run(library, *kernel, launch, options.watch());
}

Result<Rows> run_get_rows(const Variant& variant, DataType type, std::span<const std::byte> bytes, uint64_t cols,
                          uint64_t row_stride, std::span<const int32_t> ids, float scale, uint64_t y_gap,
                          const LaneOptions& options) {
  const lanes::Library& library = *(options.checked ? variant.checked : variant.plain)();
  SOFFIT_TRY(const lanes::Kernel* kernel,
             kernel_of(library, concat(variant.kernel, type == DataType::f16 ? "_f16" : "_f32")));
  SOFFIT_TRY(const int64_t row, row_bytes(variant.format, int64_t(cols)));
  if (bytes.size() < uint64_t(row) || ids.empty()) return invalid_argument("a matrix without rows, or no ids");
  GetRowsArguments values{};
  values.row_bytes = row_stride;
  values.y_stride = cols + y_gap;
  values.rows = uint32_t((bytes.size() - uint64_t(row)) / row_stride + 1);
  values.cols = uint32_t(cols);
  values.scale = scale;
  SOFFIT_TRY(const auto arguments, memory_of(values));
  SOFFIT_TRY(const auto weights, lanes::DeviceMemory::create(bytes.size()));
  SOFFIT_TRY(const auto id_memory, lanes::DeviceMemory::create(ids.size_bytes()));
  SOFFIT_TRY(const auto to,
             lanes::DeviceMemory::create((values.y_stride * (ids.size() - 1) + cols) * uint64_t(size_of(type))));
  std::memcpy(weights.data(), bytes.data(), bytes.size());
  std::memcpy(id_memory.data(), ids.data(), ids.size_bytes());
  std::memset(to.data(), 0xff, size_t(to.bytes()));
  lanes::Launch launch;
  const uint64_t strips = (cols + 15) / 16;
  launch.threadgroup = {uint32_t(std::min<uint64_t>(strips, 64)), 1, 1};
  launch.grid = {uint32_t((strips + launch.threadgroup.x - 1) / launch.threadgroup.x), uint32_t(ids.size()), 1};
  launch.constants = constants_of(variant.tuning, 0);
  launch.buffers[0] = buffer(arguments, lanes::Role::index);
  launch.buffers[1] = {weights.data(), weights.bytes(), lanes::Role::weights, block_layout(variant.format)};
  launch.buffers[2] = buffer(id_memory, lanes::Role::index);
  launch.buffers[3] = buffer(to, lanes::Role::output);
  apply(options, launch);
  Rows rows;
  SOFFIT_TRY(rows.outcome, lanes::run(library, *kernel, launch, options.watch()));
  for (size_t i = 0; i < ids.size(); ++i) {
    for (uint64_t k = 0; k < cols; ++k) rows.values.push_back(element(to, type, i * values.y_stride + k));
  }
  return rows;
}

}  // namespace soffit::metal
