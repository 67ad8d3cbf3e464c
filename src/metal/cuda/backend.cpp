#include "metal/cuda/backend.hpp"

#include "core/concat.hpp"
#include "metal/backend.hpp"
#include "metal/cuda/device.hpp"

namespace soffit::metal {

std::vector<InstructionSet> cuda_modes() {
  const Status available = cuda_available();
  return {{"plain", available ? "" : available.error().message}};
}

Result<std::unique_ptr<Backend>> create_on_cuda(const BackendOptions& options) {
  if (options.isa != "auto" && options.isa != "plain")
    return unsupported(concat("instruction set '", options.isa, "' on metal-cuda; there is plain"));
  if (options.executor) return unsupported("the metal-cuda backend runs on the device");
  SOFFIT_TRY(auto device, cuda_device(cuda_libraries(), options.device));
  return std::unique_ptr<Backend>(std::make_unique<MetalBackend>("metal-cuda", std::move(device)));
}

}  // namespace soffit::metal
