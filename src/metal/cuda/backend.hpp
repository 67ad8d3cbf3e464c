// "metal-cuda", for the list of backends: the Metal backend over a CUDA GPU.
#pragma once

#include "soffit/backend.hpp"

namespace soffit::metal {

std::vector<InstructionSet> cuda_modes();
Result<std::unique_ptr<Backend>> create_on_cuda(const BackendOptions& options);

}  // namespace soffit::metal
