// What stands around the matrices in a model's graph.
#include <algorithm>
#include <numbers>

#include "metal/recorder.hpp"
#include "ops/host_rows.hpp"
#include "ops/rope.hpp"

namespace soffit::metal {
namespace {

constexpr int64_t kMostExperts = 1024;  // of route.metal

}  // namespace

Status Recorder::one(const RmsNorm& o) {
  NormArguments a{};
  a.x_stride = uint64_t(o.x.row_stride);
  a.residual_stride = uint64_t(o.residual.row_stride);
  a.cols = uint32_t(o.x.cols);
  a.has_residual = !o.residual.empty();
  a.epsilon = o.epsilon;
  SOFFIT_TRY(const Binding x, bind(o.x));
  SOFFIT_TRY(const Binding weight, bind(o.weight));
  SOFFIT_TRY(const Binding residual, bind_or(o.residual, x));
  const auto norm = [&](const Binding& to, int64_t stride) {
    a.y_stride = uint64_t(stride);
    return dispatch("rms_norm", a, {x, weight, residual, to}, {uint32_t(o.x.rows), 1, 1});
  };
  // First the activations: y may be x.
  if (o.prepared) {
    SOFFIT_TRY(const MetalActivations* to, activations(o.prepared));
    SOFFIT_CHECK(norm(rows_of(*to, o.x.rows), to->cols()));
    if (!o.y.empty()) barrier();
  }
  if (o.y.empty()) return {};
  SOFFIT_TRY(const Binding y, bind(o.y));
  return norm(y, o.y.row_stride);
}

Status Recorder::one(const Rotate& o) {
  const int64_t pairs = o.rope.dimensions / 2;
  SOFFIT_TRY(const DeviceBuffer* table, own(uint64_t(std::max<int64_t>(1, pairs)) * sizeof(RotatePair)));
  const auto fill = [o, pairs, table] {
    std::vector<double> radians(static_cast<size_t>(pairs));
    const float* factors = o.rope.frequency_factors.empty() ? nullptr : row_of<float>(o.rope.frequency_factors, 0);
    const float magnitude = rope_frequencies(o.rope, factors, radians.data());
    auto* to = reinterpret_cast<RotatePair*>(table->data());
    for (int64_t i = 0; i < pairs; ++i) {
      const double turns = radians[size_t(i)] / (2 * std::numbers::pi);
      to[i] = {float(turns), float(turns - double(float(turns))), magnitude, 0};
    }
  };
  // Frequency factors are in a buffer, so they may have changed since the last run.
  if (o.rope.frequency_factors.empty())
    fill();
  else
    plan_.before_.push_back(fill);
  RotateArguments a{};
  a.x_stride = uint64_t(o.x.row_stride);
  a.head_dim = uint32_t(o.head_dim);
  a.pairs = uint32_t(pairs);
  a.adjacent = o.rope.pairs == RopeParameters::Pairs::adjacent;
  a.has_norm = !o.norm.empty();
  a.epsilon = o.epsilon;
  SOFFIT_TRY(const Binding x, bind(o.x));
  SOFFIT_TRY(const Binding norm, bind_or(o.norm, x));
  SOFFIT_TRY(const Binding positions, bind(o.positions));
  return dispatch("rotate", a, {x, norm, whole(*table), positions},
                  {uint32_t(o.x.cols / o.head_dim), uint32_t(o.x.rows), 1});
}

Status Recorder::one(const GatedActivation& o) {
  if (o.activation == Activation::none) return invalid_argument("gated_activation: no activation");
  GateArguments a{};
  a.gate_stride = uint64_t(o.gate.row_stride);
  a.up_stride = uint64_t(o.up.row_stride);
  a.cols = uint32_t(o.gate.cols);
  a.gate = uint32_t(o.activation);
  SOFFIT_TRY(const Binding gate, bind(o.gate));
  SOFFIT_TRY(const Binding up, bind(o.up));
  const auto activate = [&](const Binding& to, int64_t stride) {
    a.y_stride = uint64_t(stride);
    return dispatch_elements("gated_activation", a, {gate, up, to}, o.gate.rows, o.gate.cols);
  };
  if (o.prepared) {
    SOFFIT_TRY(const MetalActivations* to, activations(o.prepared));
    SOFFIT_CHECK(activate(rows_of(*to, o.gate.rows), to->cols()));
    if (!o.y.empty()) barrier();
  }
  if (o.y.empty()) return {};
  SOFFIT_TRY(const Binding y, bind(o.y));
  return activate(y, o.y.row_stride);
}

Status Recorder::one(const Route& o) {
  if (o.logits.cols > kMostExperts)
    return unsupported(concat("route: ", o.logits.cols, " experts; the Metal kernel takes up to ", kMostExperts));
  if (o.logits.rows == 0) return {};
  RouteArguments a{};
  a.logits_stride = uint64_t(o.logits.row_stride);
  a.ids_stride = uint64_t(o.ids.row_stride);
  a.weights_stride = uint64_t(o.weights.row_stride);
  a.experts = uint32_t(o.logits.cols);
  a.used = uint32_t(o.ids.cols);
  a.scale = o.scale;
  SOFFIT_TRY(const DeviceBuffer* fault, own(uint64_t(o.logits.rows) * sizeof(uint32_t)));
  plan_.after_.push_back([fault, rows = o.logits.rows]() -> Status {
    for (int64_t i = 0; i < rows; ++i)
      if (reinterpret_cast<const uint32_t*>(fault->data())[i])
        return invalid_argument(concat("route: the logits of row ", i, " are not finite"));
    return {};
  });
  SOFFIT_TRY(const Binding logits, bind(o.logits));
  SOFFIT_TRY(const Binding ids, bind(o.ids));
  SOFFIT_TRY(const Binding weights, bind(o.weights));
  return dispatch("route", a, {logits, ids, weights, whole(*fault)}, {uint32_t(o.logits.rows), 1, 1});
}

Status Recorder::one(const Combine& o) {
  CombineArguments a{};
  a.x_stride = uint64_t(o.x.row_stride);
  a.weights_stride = uint64_t(o.weights.row_stride);
  a.residual_stride = uint64_t(o.residual.row_stride);
  a.y_stride = uint64_t(o.y.row_stride);
  a.cols = uint32_t(o.y.cols);
  a.used = uint32_t(o.weights.cols);
  a.has_residual = !o.residual.empty();
  SOFFIT_TRY(const Binding x, bind(o.x));
  SOFFIT_TRY(const Binding weights, bind(o.weights));
  SOFFIT_TRY(const Binding residual, bind_or(o.residual, x));
  SOFFIT_TRY(const Binding y, bind(o.y));
  return dispatch_elements("combine", a, {x, weights, residual, y}, o.y.rows, o.y.cols);
}

Status Recorder::one(const Gather& o) {
  const int64_t rows = o.x.rows;
  SOFFIT_CHECK(check_ids(
      o.ids, rows, [=](int64_t, int32_t id) { return invalid_argument(concat("gather: row ", id, " of ", rows)); }));
  ElementwiseArguments a{};
  a.a_stride = uint64_t(o.x.row_stride);
  a.y_stride = uint64_t(o.y.row_stride);
  a.cols = uint32_t(o.y.cols);
  a.rows = uint32_t(rows);
  SOFFIT_TRY(const Binding x, bind(o.x));
  SOFFIT_TRY(const Binding ids, bind(o.ids));
  SOFFIT_TRY(const Binding y, bind(o.y));
  return dispatch_elements("gather", a, {x, ids, y}, o.y.rows, o.y.cols);
}

Status Recorder::one(const Add& o) {
  ElementwiseArguments a{};
  a.a_stride = uint64_t(o.a.row_stride);
  a.b_stride = uint64_t(o.b.row_stride);
  a.y_stride = uint64_t(o.y.row_stride);
  a.cols = uint32_t(o.y.cols);
  SOFFIT_TRY(const Binding first, bind(o.a));
  SOFFIT_TRY(const Binding second, bind(o.b));
  SOFFIT_TRY(const Binding y, bind(o.y));
  return dispatch_elements("add", a, {first, second, y}, o.y.rows, o.y.cols);
}

Status Recorder::unary(const char* kernel, const ArrayView& x, const ArrayView& y, float factor) {
  ElementwiseArguments a{};
  a.a_stride = uint64_t(x.row_stride);
  a.y_stride = uint64_t(y.row_stride);
  a.cols = uint32_t(y.cols);
  a.factor = factor;
  SOFFIT_TRY(const Binding from, bind(x));
  SOFFIT_TRY(const Binding to, bind(y));
  return dispatch_elements(kernel, a, {from, to}, y.rows, y.cols);
}
Status Recorder::one(const Scale& o) { return unary("scale", o.x, o.y, o.factor); }
Status Recorder::one(const SoftCap& o) { return unary("soft_cap", o.x, o.y, o.cap); }

// One device: nothing to add.
Status Recorder::one(const AllReduce&) { return {}; }

}  // namespace soffit::metal
