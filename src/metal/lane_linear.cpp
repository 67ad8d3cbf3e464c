#include "metal/lane_linear.hpp"

#include <algorithm>
#include <string>

#include "core/checked.hpp"
#include "core/concat.hpp"
#include "metal/arguments.h"
#include "metal/payload.hpp"

namespace soffit::metal {
namespace {

struct Sizes {
  uint64_t row_bytes, x_stride, y_stride, weights, x, y;  // the last three in bytes
};

// From the first byte to behind the last: nothing behind the last row or column belongs to it.
Result<Sizes> sizes(Format format, const LinearShape& shape, DataType type) {
  if (shape.rows == 0 || shape.cols == 0 || shape.n == 0) {
    return invalid_argument(
        concat("a product of ", shape.rows, " rows, ", shape.cols, " columns and ", shape.n, " vectors"));
  }
  if (shape.rows > UINT32_MAX / 64 || shape.cols > INT32_MAX || shape.n > UINT32_MAX / 64) {
    return invalid_argument(
        concat(shape.rows, " rows of ", shape.cols, " columns times ", shape.n, " vectors are too many"));
  }
  SOFFIT_TRY(const int64_t row, row_bytes(format, int64_t(shape.cols)));
  Sizes s{};
  s.row_bytes = shape.row_bytes ? shape.row_bytes : uint64_t(row);
  s.x_stride = shape.x_stride ? shape.x_stride : shape.cols;
  s.y_stride = shape.y_stride ? shape.y_stride : shape.rows;
  const auto extent = [](uint64_t stride, uint64_t count, uint64_t last, uint64_t element) -> std::optional<uint64_t> {
    const auto before = checked_mul(stride, count - 1);
    const auto all = before ? checked_add(*before, last) : std::nullopt;
    return all ? checked_mul(*all, element) : std::nullopt;
  };
  const auto weights = extent(s.row_bytes, shape.rows, uint64_t(row), 1);
  const auto x = extent(s.x_stride, shape.n, shape.cols, uint64_t(size_of(type)));
  const auto y = extent(s.y_stride, shape.n, shape.rows, uint64_t(size_of(type)));
  if (!weights || !x || !y) return invalid_argument("strides that overflow");
  s.weights = *weights;
  s.x = *x;
  s.y = *y;
  return s;
}

}  // namespace

std::map<uint32_t, lanes::ConstantValue> constants_of(const Tuning& tuning, uint32_t batch) {
  return {{0, {.integer = tuning.simdgroups}}, {1, {.integer = tuning.rows}}, {2, {.integer = batch}}};
}

Result<LinearBuffers> LinearBuffers::create(Format format, const LinearShape& shape, DataType type) {
  SOFFIT_TRY(const Sizes s, sizes(format, shape, type));
  LinearBuffers buffers;
  SOFFIT_TRY(buffers.weights, lanes::DeviceMemory::create(s.weights));
  SOFFIT_TRY(buffers.x, lanes::DeviceMemory::create(s.x));
  SOFFIT_TRY(buffers.y, lanes::DeviceMemory::create(s.y));
  return buffers;
}

Result<lanes::Outcome> run_linear(const Variant& variant, const Tuning& tuning, const LinearShape& shape, DataType type,
                                  const LinearBuffers& buffers, const LaneOptions& options) {
  SOFFIT_TRY(const Sizes s, sizes(variant.format, shape, type));
  if (type != DataType::f32 && type != DataType::f16) {
    return unsupported(concat("activations of type ", to_string(type), "; there are f32 and f16"));
  }
  if (std::ranges::find(variant.tunings, tuning) == variant.tunings.end()) {
    return unsupported(
        concat(variant.kernel, ": no tuning of ", tuning.simdgroups, " simdgroups and ", tuning.rows, " rows"));
  }
  const lanes::Library& library = *(options.checked ? variant.checked : variant.plain)();
  const std::string entry = concat(variant.kernel, type == DataType::f16 ? "_f16" : "_f32");
  const lanes::Kernel* kernel = find_kernel(library, entry);
  if (!kernel) return Error{Code::internal, concat(library.source, " has no kernel ", entry)};

  SOFFIT_TRY(const auto arguments, lanes::DeviceMemory::create(sizeof(LinearArguments)));
  *reinterpret_cast<LinearArguments*>(arguments.data()) = {
      s.row_bytes, s.x_stride, s.y_stride, uint32_t(shape.rows), uint32_t(shape.cols), uint32_t(shape.n), 0};
  const LinearGrid grid = linear_grid(variant.division, tuning, shape.rows, shape.n);
  lanes::Launch launch;
  launch.grid = {grid.x, grid.y, 1};
  launch.threadgroup = {grid.threads, 1, 1};
  launch.constants = constants_of(tuning, grid.batch);
  launch.buffers[0] = {arguments.data(), arguments.bytes(), lanes::Role::index, {}};
  launch.buffers[1] = {buffers.weights.data(), s.weights, lanes::Role::weights, block_layout(variant.format)};
  launch.buffers[2] = {buffers.x.data(), s.x, lanes::Role::activations, {}};
  launch.buffers[3] = {buffers.y.data(), s.y, lanes::Role::output, {}};
  launch.seed = options.seed;
  launch.contract = options.contract;
  launch.threads = options.threads;
  return run(library, *kernel, launch, options.watch());
}

}  // namespace soffit::metal
