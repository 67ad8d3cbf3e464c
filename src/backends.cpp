// The backends that are built in. A machine that is not built in has a stub of its own that says why.
#include <array>
#include <string>

#include "cpu/backend.hpp"
#include "soffit/backend.hpp"
#ifdef SOFFIT_LANES
#include "metal/backend.hpp"
#endif
#ifdef SOFFIT_METAL_CUDA
#include "metal/cuda/backend.hpp"
#include "metal/cuda/device.hpp"
#endif

namespace soffit {
namespace {

#ifdef SOFFIT_LANES
constexpr BackendEntry kLanes = {"metal-lanes", metal::lanes_available, metal::lane_modes, metal::create_on_lanes};
#else
Status no_lanes() { return unsupported("metal-lanes: this build has no lane runner (SOFFIT_BUILD_LANES)"); }
constexpr BackendEntry kLanes = {
    "metal-lanes", no_lanes, [] { return std::vector<InstructionSet>(); },
    [](const BackendOptions&) -> Result<std::unique_ptr<Backend>> { return no_lanes().error(); }};
#endif

}  // namespace

std::span<const BackendEntry> backends() {
  static const std::array kList = {
      BackendEntry{"cpu", cpu::available, cpu::instruction_sets, cpu::create},
      kLanes,
#ifdef SOFFIT_METAL_CUDA
      BackendEntry{"metal-cuda", metal::cuda_available, metal::cuda_modes, metal::create_on_cuda},
#endif
  };
  return kList;
}

Result<std::unique_ptr<Backend>> create_backend(std::string_view name, const BackendOptions& options) {
  std::string known;
  for (const auto& b : backends()) {
    if (name == b.name || (name == "auto" && b.available())) return b.create(options);
    known += known.empty() ? "" : ", ";
    known += b.name;
  }
  return unsupported("backend '" + std::string(name) + "' is not built in; there is: " + known);
}

}  // namespace soffit
