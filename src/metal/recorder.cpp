// Products, and what all operations need.
#include "metal/recorder.hpp"

#include <algorithm>

#include "metal/graph_arguments.h"
#include "metal/matrix_kernels.hpp"

namespace soffit::metal {
namespace {

// The bytes of a view from its first element to its last.
uint64_t extent(const ArrayView& v) {
  return v.rows == 0 ? 0 : uint64_t(((v.rows - 1) * v.row_stride + v.cols) * size_of(v.type));
}

// Floats that an operation puts into the workspace.
uint64_t workspace_floats(const Operation& operation) {
  if (const auto* o = std::get_if<Linear>(&operation.value))
    return o->weights ? uint64_t(o->weights->rows() * o->y.rows) : 0;
  if (const auto* o = std::get_if<LinearId>(&operation.value))
    return o->weights ? uint64_t(o->weights->rows() * o->y.rows) : 0;
  if (const auto* o = std::get_if<GetRows>(&operation.value)) return uint64_t(o->y.rows * o->y.cols);
  return 0;
}

std::vector<FunctionConstant> constants_of(const Variant& variant, const LinearGrid& grid) {
  return {{0, variant.tuning.simdgroups}, {1, variant.tuning.rows}, {2, grid.batch}};
}

constexpr const char* type_name(DataType type) {
  return type == DataType::f16 ? "f16" : type == DataType::bf16 ? "bf16" : "f32";
}

}  // namespace

Result<Recorder> Recorder::create(MetalPlan& plan, Device& device, std::span<const Operation> operations) {
  uint64_t floats = 1;
  for (const auto& o : operations) floats = std::max(floats, workspace_floats(o));
  SOFFIT_TRY(plan.workspace_, device.new_buffer(floats * sizeof(float)));
  plan.statistics_.workspace_bytes = floats * sizeof(float);
  return Recorder(plan, device);
}

Status Recorder::record(const Operation& operation) {
  return std::visit([&](const auto& o) { return one(o); }, operation.value);
}

Result<Binding> Recorder::bind(const ArrayView& view) const {
  const auto* buffer = dynamic_cast<const MetalBuffer*>(view.buffer);
  if (!buffer) return invalid_argument("a buffer of another backend");
  return Binding{&buffer->device(), view.offset, extent(view)};
}

Result<const MetalActivations*> Recorder::activations(const Activations* a) const {
  const auto* mine = dynamic_cast<const MetalActivations*>(a);
  if (!mine) return invalid_argument("activations of another backend");
  return mine;
}

Result<const MetalWeights*> Recorder::weights(const Weights* w) const {
  const auto* mine = dynamic_cast<const MetalWeights*>(w);
  if (!mine) return invalid_argument("weights of another backend");
  if (!mine->finished()) return invalid_argument("weights before finish()");
  return mine;
}

Result<const DeviceBuffer*> Recorder::own(uint64_t bytes) {
  SOFFIT_TRY(auto buffer, device_.new_buffer(bytes));
  plan_.own_.push_back(std::move(buffer));
  return plan_.own_.back().get();
}

Status Recorder::check_ids(const ArrayView& ids, int64_t limit, std::function<Error(int64_t, int32_t)> error) {
  if (ids.rows > 1 && ids.row_stride != ids.cols)
    return unsupported(concat("ids with a row stride of ", ids.row_stride, " for ", ids.cols, " columns"));
  SOFFIT_TRY(const DeviceBuffer* fault, own(sizeof(uint32_t)));
  SOFFIT_TRY(const Binding from, bind(ids));
  SOFFIT_CHECK(
      dispatch("check_ids", IdsArguments{uint32_t(ids.rows * ids.cols), uint32_t(limit)}, {from, whole(*fault)}, {}));
  plan_.after_.push_back([=]() -> Status {
    uint32_t place;
    std::memcpy(&place, fault->data(), sizeof place);
    if (place == 0) return {};
    int32_t id;
    std::memcpy(&id, from.buffer->data() + from.offset + (place - 1) * sizeof id, sizeof id);
    return error(place - 1, id);
  });
  return {};
}

Result<const Variant*> Recorder::variant_for(OperationKind operation, Format format, int64_t n) {
  const Variant* variant = choose_variant(operation, format, n);
  if (!variant) return unsupported(concat("no Metal kernel for format ", info(format).name));
  return variant;
}

// ---- products ----

Result<Recorder::Target> Recorder::target(int64_t product_rows, const ArrayView& y, const Epilogue& e) {
  const bool direct =
      e.scale == 1.0f && e.bias.empty() && e.gate == Activation::none && e.residual.empty() && y.type == DataType::f32;
  if (direct) {
    SOFFIT_TRY(const Binding binding, bind(y));
    return Target{binding, uint64_t(y.row_stride), true};
  }
  barrier();  // whoever used the workspace last
  return Target{
      {plan_.workspace_.get(), 0, uint64_t(product_rows * y.rows) * sizeof(float)}, uint64_t(product_rows), false};
}

Status Recorder::finish(int64_t product_rows, const ArrayView& y, const Epilogue& e, const Target& target) {
  if (target.direct) return {};
  barrier();
  FinishArguments a{};
  a.x_stride = target.stride;
  a.y_stride = uint64_t(y.row_stride);
  a.residual_stride = uint64_t(e.residual.row_stride);
  a.cols = uint32_t(y.cols);
  a.gate = uint32_t(e.gate);
  a.up = uint32_t(product_rows / 2);
  a.has_bias = !e.bias.empty();
  a.has_residual = !e.residual.empty();
  a.scale = e.scale;
  SOFFIT_TRY(const Binding bias, bind_or(e.bias, target.y));
  SOFFIT_TRY(const Binding residual, bind_or(e.residual, target.y));
  SOFFIT_TRY(const Binding to, bind(y));
  return dispatch_elements(concat("finish_f32_", type_name(y.type)), a, {target.y, bias, residual, to}, y.rows, y.cols);
}

Status Recorder::one(const Linear& o) {
  SOFFIT_TRY(const MetalWeights* w, weights(o.weights));
  SOFFIT_TRY(const MetalActivations* x, activations(o.x));
  const int64_t n = o.y.rows, rows = w->rows();
  if (n == 0) return {};
  SOFFIT_TRY(const Target t, target(rows, o.y, o.epilogue));
  uint64_t first = 0;
  for (size_t p = 0; p < w->part_count(); ++p) {
    const auto& part = w->part(p);
    SOFFIT_TRY(const Variant* variant, variant_for(OperationKind::linear, part.matrix.format, n));
    LinearArguments a{};
    a.row_bytes = uint64_t(part.row_stride);
    a.x_stride = uint64_t(x->cols());
    a.y_stride = t.stride;
    a.rows = uint32_t(part.matrix.rows);
    a.cols = uint32_t(part.matrix.cols);
    a.n = uint32_t(n);
    const LinearGrid grid = linear_grid(variant->division, variant->tuning, a.rows, uint64_t(n));
    const uint64_t skip = first * sizeof(float);
    SOFFIT_CHECK(dispatch(concat(variant->kernel, "_f32"), a,
                          {whole(*part.buffer), rows_of(*x, n), {t.y.buffer, t.y.offset + skip, t.y.bytes - skip}},
                          {grid.x, grid.y, 1}, grid.threads, constants_of(*variant, grid)));
    first += uint64_t(part.matrix.rows);
  }
  return finish(rows, o.y, o.epilogue, t);
}

Status Recorder::one(const LinearId& o) {
  SOFFIT_TRY(const MetalWeights* w, weights(o.weights));
  SOFFIT_TRY(const MetalActivations* x, activations(o.x));
  const int64_t slots = o.y.rows, rows = w->rows(), experts = w->experts(), used = o.ids.cols;
  if (slots == 0) return {};
  SOFFIT_CHECK(check_ids(o.ids, experts, [=](int64_t place, int32_t id) {
    return invalid_argument(
        concat("linear_id: expert ", id, " of ", experts, " at token ", place / used, ", slot ", place % used));
  }));
  SOFFIT_TRY(const Binding ids, bind(o.ids));
  SOFFIT_TRY(const Target t, target(rows, o.y, o.epilogue));
  Binding counts, by_expert;
  uint64_t first = 0;
  for (size_t p = 0; p < w->part_count(); ++p) {
    const auto& part = w->part(p);
    SOFFIT_TRY(const Variant* variant, variant_for(OperationKind::linear_id, part.matrix.format, slots));
    const bool tiles = variant->division == Division::tiles;
    if (tiles && !counts.buffer) {
      SOFFIT_TRY(const DeviceBuffer* count, own(uint64_t(experts) * sizeof(uint32_t)));
      SOFFIT_TRY(const DeviceBuffer* list, own(uint64_t(experts * slots) * sizeof(uint32_t)));
      counts = whole(*count);
      by_expert = whole(*list);
      SOFFIT_CHECK(dispatch("group_slots", IdsArguments{uint32_t(slots), uint32_t(experts)}, {ids, counts, by_expert},
                            {uint32_t(experts), 1, 1}));
      barrier();
    }
    LinearIdArguments a{};
    a.linear.row_bytes = uint64_t(part.row_stride);
    a.linear.x_stride = uint64_t(x->cols());
    a.linear.y_stride = t.stride;
    a.linear.rows = uint32_t(part.matrix.rows);
    a.linear.cols = uint32_t(part.matrix.cols);
    a.linear.n = uint32_t(slots);
    a.expert_bytes = uint64_t(part.expert_stride);
    a.experts = uint32_t(experts);
    a.used = uint32_t(used);
    a.per_slot = o.per_slot;
    const LinearGrid grid = linear_grid(variant->division, variant->tuning, a.linear.rows, uint64_t(slots));
    const uint64_t skip = first * sizeof(float);
    std::vector<Binding> buffers = {whole(*part.buffer),
                                    rows_of(*x, o.per_slot ? slots : o.ids.rows),
                                    {t.y.buffer, t.y.offset + skip, t.y.bytes - skip}};
    if (tiles)
      buffers.insert(buffers.end(), {counts, by_expert});
    else
      buffers.push_back(ids);
    SOFFIT_CHECK(dispatch(concat(variant->kernel, "_f32"), a, std::move(buffers),
                          {grid.x, grid.y, tiles ? uint32_t(experts) : 1}, grid.threads, constants_of(*variant, grid)));
    first += uint64_t(part.matrix.rows);
  }
  return finish(rows, o.y, o.epilogue, t);
}

Status Recorder::one(const GetRows& o) {
  SOFFIT_TRY(const MetalWeights* w, weights(o.weights));
  const auto& part = w->part(0);
  const int64_t n = o.y.rows, rows = part.matrix.rows;
  if (n == 0) return {};
  SOFFIT_TRY(const Variant* variant, variant_for(OperationKind::get_rows, part.matrix.format, n));
  SOFFIT_CHECK(check_ids(
      o.ids, rows, [=](int64_t, int32_t id) { return invalid_argument(concat("get_rows: row ", id, " of ", rows)); }));
  SOFFIT_TRY(const Binding ids, bind(o.ids));
  SOFFIT_TRY(const Target t, target(o.y.cols, o.y, {}));
  GetRowsArguments a{};
  a.row_bytes = uint64_t(part.row_stride);
  a.y_stride = t.stride;
  a.rows = uint32_t(rows);
  a.cols = uint32_t(part.matrix.cols);
  a.scale = o.scale;
  constexpr uint32_t kThreads = 32;  // a strip of 16 columns each
  SOFFIT_CHECK(dispatch(concat(variant->kernel, "_f32"), a, {whole(*part.buffer), ids, t.y},
                        {uint32_t((a.cols + 16 * kThreads - 1) / (16 * kThreads)), uint32_t(n), 1}, kThreads,
                        constants_of(*variant, {})));
  return finish(o.y.cols, o.y, {}, t);
}

Status Recorder::one(const Prepare& o) {
  SOFFIT_TRY(const MetalActivations* to, activations(o.to));
  FinishArguments a{};
  a.x_stride = uint64_t(o.x.row_stride);
  a.y_stride = uint64_t(to->cols());
  a.cols = uint32_t(o.x.cols);
  a.scale = 1.0f;
  SOFFIT_TRY(const Binding x, bind(o.x));
  return dispatch_elements(concat("finish_", type_name(o.x.type), "_f32"), a, {x, x, x, rows_of(*to, o.x.rows)},
                           o.x.rows, o.x.cols);
}

}  // namespace soffit::metal
