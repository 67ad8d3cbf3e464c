#include "metal/backend.hpp"

#include "core/checked.hpp"
#include "core/concat.hpp"
#include "core/topology.hpp"
#include "metal/lane_device.hpp"
#include "metal/matrix_kernels.hpp"
#include "metal/plan.hpp"
#include "metal/weights.hpp"

namespace soffit::metal {
Result<std::unique_ptr<State>> MetalState::create(Device& device, const StateDescription& description) {
  auto state = std::make_unique<MetalState>();
  SOFFIT_TRY(const uint64_t bytes, state->lay_out(description));
  SOFFIT_TRY(state->buffer_, device.new_buffer(bytes));
  state->place(reinterpret_cast<uint8_t*>(state->buffer_->data()));
  return std::unique_ptr<State>(std::move(state));
}

Support MetalBackend::supports(OperationKind operation, Format format, const Shape& shape) const {
  switch (operation) {
    case OperationKind::linear:
    case OperationKind::linear_id:
    case OperationKind::get_rows: {
      const MatrixDescription matrix{format, shape.rows, shape.cols, shape.experts};
      if (auto bytes = matrix_bytes(matrix); !bytes) return {"", bytes.error().message};
      const Variant* variant = choose_variant(operation, format, shape.n);
      if (!variant) return {"", concat("no kernel for format ", info(format).name)};
      return {std::string(variant->kernel), "", 0, code_offset(*variant)};
    }
    default:
      return {to_string(operation), ""};
  }
}

Result<std::unique_ptr<Buffer>> MetalBackend::new_buffer(uint64_t size) {
  SOFFIT_TRY(auto buffer, device_->new_buffer(size));
  return std::unique_ptr<Buffer>(std::make_unique<MetalBuffer>(std::move(buffer), nullptr));
}

Result<std::unique_ptr<Buffer>> MetalBackend::wrap(void* memory, uint64_t size, std::shared_ptr<const void> owner) {
  if (!memory && size) return invalid_argument(concat("wrap: null memory of ", size, " bytes"));
  SOFFIT_TRY(auto buffer, device_->wrap({static_cast<std::byte*>(memory), size_t(size)}));
  return std::unique_ptr<Buffer>(std::make_unique<MetalBuffer>(std::move(buffer), std::move(owner)));
}

Result<std::unique_ptr<Weights>> MetalBackend::new_weights(std::span<const MatrixDescription> parts, Layout) {
  return MetalWeights::create(*device_, parts);
}

Result<std::unique_ptr<Activations>> MetalBackend::new_activations(int64_t max_rows, int64_t cols,
                                                                   std::span<const Weights* const> readers) {
  if (max_rows < 0 || cols <= 0) return invalid_argument(concat("activations of ", max_rows, " x ", cols));
  for (const Weights* w : readers) {
    if (!dynamic_cast<const MetalWeights*>(w)) return invalid_argument("activations for weights of another backend");
    if (w->cols() != cols)
      return invalid_argument(concat("activations of ", cols, " columns for weights of ", w->cols()));
  }
  const auto floats = checked_mul(uint64_t(max_rows), uint64_t(cols));
  const auto bytes = floats ? checked_mul(*floats, sizeof(float)) : std::nullopt;
  if (!bytes) return invalid_argument(concat("activations of ", max_rows, " x ", cols, " are too large"));
  SOFFIT_TRY(auto buffer, device_->new_buffer(*bytes));
  return std::unique_ptr<Activations>(std::make_unique<MetalActivations>(std::move(buffer), max_rows, cols));
}

Result<std::unique_ptr<State>> MetalBackend::new_state(const StateDescription& description) {
  return MetalState::create(*device_, description);
}

Result<std::unique_ptr<Plan>> MetalBackend::plan(std::span<const Operation> operations, const PlanOptions& options) {
  return MetalPlan::create(*this, operations, options);
}

Status lanes_available() { return {}; }

std::vector<InstructionSet> lane_modes() { return {{"checked", ""}, {"plain", ""}}; }

Result<std::unique_ptr<Backend>> create_on_lanes(const BackendOptions& options) {
  if (options.isa != "auto" && options.isa != "plain" && options.isa != "checked")
    return unsupported(concat("instruction set '", options.isa, "' on metal-lanes; there are plain and checked"));
  if (options.device != 0)
    return unsupported(concat("device ", options.device, ": the metal-lanes backend has device 0 only"));
  if (options.threads < 0 || options.threads > 1024) return invalid_argument(concat("threads: ", options.threads));
  if (options.executor) return unsupported("the metal-lanes backend runs on threads of its own");
  const int threads = options.threads ? options.threads : default_threads();
  auto device = lane_device(options.isa == "checked" ? LaneMode::checked : LaneMode::plain, threads);
  return std::unique_ptr<Backend>(std::make_unique<MetalBackend>("metal-lanes", std::move(device)));
}

}  // namespace soffit::metal
